/**
 * What goes wrong between us and an API server: it answered and said no (`ApiError`), no usable answer came (`NetworkError`),
 * or the kubeconfig is no good (`KubeConfigError`). Branch through the predicates below, not on message texts.
 */

/** One of a Status' `details.causes`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** The API server answered with a failure. `message` is the Status' own, never a raw body. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, or the `code` of the Status in a watch's ERROR event. */
  readonly status: number;
  /** The Status' machine-readable reason (`NotFound`, `AlreadyExists`, …); empty when there was no Status. */
  readonly reason: string;
  readonly causes: readonly StatusCause[];
  /** What a `Retry-After` header or `details.retryAfterSeconds` asks for, milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    fields: {
      status: number;
      reason?: string;
      causes?: readonly StatusCause[];
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

/** No usable answer: refused, reset, timed out, TLS failure, a truncated or malformed reply. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  /**
   * Node's or undici's code (`ECONNREFUSED`, `UND_ERR_SOCKET`, `CERT_HAS_EXPIRED`, …) or ours: `TIMEOUT` (no answer
   * within the time limit), `MALFORMED` (a truncated or senseless answer), `ABORTED` (the caller's or the
   * transport's signal), `CREDENTIALS` (no credential to be had: a plugin failed, a token file is gone), `PROXY` (no
   * tunnel through the kubeconfig's proxy).
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

/** The kubeconfig, or what it points to, cannot be used. `message` is one sentence with the mend. */
export class KubeConfigError extends Error {
  override readonly name = 'KubeConfigError';
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

export const isBadRequest = (error: unknown): error is ApiError => hasStatus(error, 400);
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** A stale resourceVersion or a failed precondition; not AlreadyExists, which shares the status. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
/** The resourceVersion or continue token is too old: list anew. */
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
export const isTooLarge = (error: unknown): error is ApiError => hasStatus(error, 413);
export const isInvalid = (error: unknown): error is ApiError => hasStatus(error, 422);

/** The namespace is going away: the server refuses to create in it (KEP: NamespaceTerminating cause of a 403). */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  isForbidden(error) && error.causes.some((cause) => cause.reason === 'NamespaceTerminating');
