import { Agent, type Dispatcher } from 'undici';
import type { ClusterAccess } from './cluster-access.ts';
import { waitFor } from './wait-for.ts';

/**
 * The parts of an object, list or Status that tests read. What the server left out is undefined at
 * run time all the same: a test that reads it fails, as it should.
 */
export interface ApiBody {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly managedFields?: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly time?: string;
    }[];
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly ApiBody[];
  readonly data?: Readonly<Record<string, string>>;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

export interface ApiReply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The text, parsed; undefined when it is no JSON. */
  readonly json: unknown;
  /** The same, for tests that know what they will find. */
  readonly body: ApiBody;
}

export interface RequestOptions {
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  /** Names the field manager of a write, as far as its first slash. */
  readonly userAgent?: string;
  /** A bearer token in place of the client's own. */
  readonly token?: string;
}

export interface WatchLine {
  readonly type: string;
  readonly object: ApiBody;
}

/** A watch that is under way, or an answer that is none. */
export interface OpenWatch {
  readonly code: number;
  /** What has come so far. */
  readonly lines: readonly WatchLine[];
  /** Resolves to the first `count` lines as soon as there are so many. */
  first(count: number): Promise<readonly WatchLine[]>;
  /** Resolves to all lines once the server has ended the watch. */
  ended(): Promise<readonly WatchLine[]>;
  close(): void;
}

/**
 * Plain HTTP to an API server, without a client library's opinion of what is sent and what comes
 * back.
 */
export interface ApiClient extends AsyncDisposable {
  request(method: string, path: string, options?: RequestOptions): Promise<ApiReply>;
  watch(path: string, options?: RequestOptions): Promise<OpenWatch>;
  close(): Promise<void>;
}

export function openApiClient(access: ClusterAccess): ApiClient {
  const agent = new Agent({ connect: { ...access.tls }, headersTimeout: 60_000, bodyTimeout: 0 });
  const send = (method: string, path: string, options: RequestOptions) =>
    agent.request({
      origin: access.url,
      path,
      method: method as Dispatcher.HttpMethod,
      headers: headersOf(access, options),
      body: typeof options.body === 'string' ? options.body : (JSON.stringify(options.body) ?? null),
    });
  const close = () => agent.destroy();
  return {
    async request(method, path, options = {}) {
      const { statusCode, headers, body } = await send(method, path, options);
      const text = await body.text();
      const json = parsed(text);
      return { code: statusCode, headers, text, json, body: (json ?? {}) as ApiBody };
    },
    async watch(path, options = {}) {
      const { statusCode, body } = await send('GET', path, options);
      return readWatch(statusCode, body);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function headersOf(access: ClusterAccess, options: RequestOptions): Record<string, string> {
  const authorization =
    options.token === undefined ? access.headers.authorization : `Bearer ${options.token}`;
  return {
    accept: options.accept ?? 'application/json',
    'user-agent': options.userAgent ?? 'contract-test',
    ...(authorization === undefined ? {} : { authorization }),
    ...(options.body === undefined ? {} : { 'content-type': options.contentType ?? 'application/json' }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A server sends bookmarks at times of its own. The one that ends initial events is annotated. */
function isNoPeriodicBookmark({ type, object }: WatchLine): boolean {
  return type !== 'BOOKMARK' || object.metadata.annotations !== undefined;
}

function readWatch(code: number, body: Dispatcher.ResponseData['body']): OpenWatch {
  const lines: WatchLine[] = [];
  let isOver = false;
  const reading = (async () => {
    let begun = '';
    for await (const chunk of body) {
      const complete = `${begun}${String(chunk)}`.split('\n');
      begun = complete.pop() ?? '';
      lines.push(...complete.map((line) => JSON.parse(line) as WatchLine).filter(isNoPeriodicBookmark));
    }
  })()
    // Closed by the test, or cut: what came before counts.
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  return {
    code,
    lines,
    first: async (count) => {
      const describe = () => `${count} lines of a watch, which has ${JSON.stringify(lines)}`;
      await waitFor(() => lines.length >= count || isOver, { deadlineMs: 20_000, describe });
      return lines.slice(0, count);
    },
    ended: async () => {
      await reading;
      return lines;
    },
    close: () => void body.destroy(),
  };
}
