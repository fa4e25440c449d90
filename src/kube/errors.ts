/**
 * What can go wrong with an API server: it refuses a request (`ApiError`), there is no usable
 * answer (`NetworkError`), or the kubeconfig cannot be used (`KubeConfigError`). Use the predicates
 * below to tell errors apart, not their messages.
 */

/** The API server refused the request. `message` comes from its Status, never from a raw body. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, or the `code` of the Status in a watch's ERROR event. */
  readonly status: number;
  /**
   * The Status' machine-readable reason (`NotFound`, `AlreadyExists`, …); empty without a Status.
   */
  readonly reason: string;
  /** The machine-readable reasons in `details.causes`. */
  readonly causes: readonly string[];
  /** Delay (ms) that the server asks for, at most 30,000. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    fields: {
      status: number;
      reason?: string;
      causes?: readonly string[];
      retryAfterMs?: number | undefined;
    },
  ) {
    super(message);
    this.status = fields.status;
    this.reason = fields.reason ?? '';
    this.causes = fields.causes ?? [];
    this.retryAfterMs = fields.retryAfterMs;
  }
}

/** No usable answer: refused, reset, timed out, a TLS failure, a truncated or malformed answer. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  /**
   * A code of Node's or undici's (`ECONNREFUSED`, `UND_ERR_SOCKET`, …) or ours:
   * - `TIMEOUT`: no answer within the time limit
   * - `MALFORMED`: an answer that is truncated or not what was requested
   * - `ABORTED`: the caller's or the transport's signal aborted, or it may no longer be sent
   * - `CREDENTIALS`: no usable credential or certificates, such as after a plugin failed
   * - `CLOSED`: the server closed a watch soon after it was opened
   * - `PROXY`: no tunnel through the kubeconfig's proxy
   */
  readonly code: string;

  constructor(message: string, options: { code: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}

/** A successful answer that cannot be used. `message` names the server and says what is wrong. */
export function malformed(message: string): NetworkError {
  return new NetworkError(message, { code: 'MALFORMED' });
}

/** The answer is JSON, but not what the request asked for. `server`: `host:port`. */
export function unexpectedAnswer(server: string): NetworkError {
  return malformed(
    `${server} answered with something other than the requested object: check that it is an API server`,
  );
}

/** The kubeconfig or a file that it names cannot be used. `message` says why and how to fix it. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

const TOO_LARGE_FOR_ETCD = /etcdserver: request is too large|trying to send message larger than max/;

export const isBadRequest = (error: unknown): error is ApiError => hasStatus(error, 400);
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** A stale resourceVersion or a failed precondition; not AlreadyExists, which shares the status. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
/** What a read resolves to; undefined if the server answers that there is no such object. */
export function ifFound<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** The resourceVersion or continue token is too old: list again. */
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
/** For the server, or for etcd, whose refusal the server passes on as a 500 without a reason. */
export const isTooLarge = (error: unknown): error is ApiError =>
  hasStatus(error, 413) || (hasStatus(error, 500) && TOO_LARGE_FOR_ETCD.test(error.message));
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422);

/** The namespace is being deleted, so the server refuses to create objects in it. */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  isForbidden(error) && error.causes.includes('NamespaceTerminating');
