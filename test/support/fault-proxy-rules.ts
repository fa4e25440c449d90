/** What may go wrong between a client and an API server, and for which requests. */

/** Bytes count from the start of the reply's body, lines of a watch from 1. */
export type Fault =
  /** The proxy answers with a Status; the server never sees the request. */
  | {
      readonly kind: 'status';
      readonly code: number;
      /** The `Retry-After` header and the Status' `details.retryAfterSeconds`. Default neither. */
      readonly retryAfterSeconds?: number;
      /** Default the reason that Kubernetes gives this code. */
      readonly reason?: string;
      /** Default `injected by the fault proxy`. */
      readonly message?: string;
    }
  /** The request waits before it is passed on, milliseconds. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The connection breaks; the server never sees the request. */
  | { readonly kind: 'reset' }
  /** No answer ever, and the connection stays; the server never sees the request. */
  | { readonly kind: 'no-answer' }
  /** The reply breaks off. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The reply stops coming and the connection stays, as with a half-open socket. */
  | { readonly kind: 'silence'; readonly afterBytes: number }
  /** The server carries the request out; its answer gets lost with the connection. */
  | { readonly kind: 'lost-reply' }
  | { readonly kind: 'duplicate-line'; readonly line: number }
  /** Half of the line arrives, then the stream ends as if it were whole. */
  | { readonly kind: 'truncated-line'; readonly line: number }
  /** `text` comes in place of the line. */
  | { readonly kind: 'replaced-line'; readonly line: number; readonly text: string };

export interface RequestMatch {
  readonly method?: string | readonly string[];
  /** Against the path with its query, as sent. */
  readonly path?: RegExp;
  /** Whether it is a watch. */
  readonly watch?: boolean;
}

export interface FaultRule {
  /** Default every request. */
  readonly match?: RequestMatch;
  readonly fault: Fault;
  /** How many matching requests pass unharmed first. Default 0. */
  readonly skip?: number;
  /** How many requests are harmed then. Default every one, until the rule is removed. */
  readonly times?: number;
}

/** A rule at work. */
export interface ActiveFault {
  /** How many requests it has harmed. */
  hits(): number;
  remove(): void;
}

export interface RequestLine {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
}

export const isWatch = ({ path }: RequestLine): boolean => /[?&]watch=(true|1)\b/.test(path);

/**
 * The rules in force. The latest that matches a request decides, and only it counts the request.
 */
export class FaultRules {
  readonly #active = new Set<{ readonly rule: FaultRule; seen: number; hits: number }>();

  add(rule: FaultRule): ActiveFault {
    const entry = { rule, seen: 0, hits: 0 };
    this.#active.add(entry);
    return { hits: () => entry.hits, remove: () => void this.#active.delete(entry) };
  }

  clear(): void {
    this.#active.clear();
  }

  /** What is to happen to this request; undefined: nothing. */
  take(request: RequestLine): Fault | undefined {
    for (const entry of [...this.#active].reverse()) {
      const { match = {}, fault, skip = 0, times = Number.POSITIVE_INFINITY } = entry.rule;
      if (entry.hits >= times || !matches(match, request)) continue;
      entry.seen++;
      if (entry.seen <= skip) return undefined;
      entry.hits++;
      return fault;
    }
    return undefined;
  }
}

function matches({ method, path, watch }: RequestMatch, request: RequestLine): boolean {
  if (method !== undefined && ![method].flat().includes(request.method)) return false;
  if (path !== undefined && !path.test(request.path)) return false;
  return watch === undefined || watch === isWatch(request);
}
