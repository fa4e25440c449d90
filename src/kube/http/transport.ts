import type { Clock } from '../../clock/clock.ts';

export interface TransportOptions {
  readonly clock: Clock;
  /** Sent as `User-Agent`, e.g. `mirror-controller/1.2.3`. */
  readonly userAgent: string;
  /** Aborts every request at once: the process stops. */
  readonly signal: AbortSignal;
  /**
   * Time limit (ms) for a call's whole answer, or for the head of a stream's; default 30,000. It
   * begins when there is a credential, and again after a renewal: a plugin has its own limit.
   */
  readonly timeLimitMs?: number;
  /**
   * Longest time (ms) that one answer's `Retry-After` delays all calls; default: as long as the
   * `ApiError` says, at most 30,000.
   */
  readonly longestDelayMs?: number;
  /**
   * Most connections for calls, default 256; each call in flight needs one. They are opened as they
   * are needed. Streams have connections of their own, without a limit.
   */
  readonly connections?: number;
  /** Called for each answer, of a repeated request too; `code`: its HTTP status, or `<error>`. */
  readonly onAnswer?: ((code: string, method: string) => void) | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's URL, with the query: `/api/v1/configmaps?limit=100`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborts this request. */
  readonly signal?: AbortSignal | undefined;
  /**
   * `call` asks this right before it writes the request to a connection, after all waiting. If
   * false, the request is not sent and the call rejects with `NetworkError` (`ABORTED`).
   */
  readonly mayBeSent?: (() => boolean) | undefined;
}

/**
 * Requests to one API server. Both methods reject with `ApiError` for every status that is not a
 * success, and with `NetworkError` for everything else. They repeat a request only where the server
 * cannot have acted on the first one: once after a 401 if there is a new credential, and once after
 * a failed TLS handshake if there are new certificates. All other retries, of reads too, are up to
 * the caller: only the caller knows whether the answer is still needed.
 */
export interface Transport {
  /** `host:port` of the server, for messages. */
  readonly server: string;
  /**
   * One request, within the time limit. Resolves to the body of the answer: JSON according to its
   * content type, not parsed yet.
   */
  call(request: ApiRequest): Promise<string>;
  /**
   * The answer's body as it arrives, however long that takes; the time limit covers only its head.
   * Leaving the loop over the body closes the request, as an abort of the signal does.
   */
  stream(request: ApiRequest): Promise<AsyncIterable<Buffer>>;
  /**
   * Closes the connections once the requests in flight have ended, or at once if the transport's
   * signal has aborted.
   */
  close(): Promise<void>;
}
