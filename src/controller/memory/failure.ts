import {
  ApiError,
  isBadRequest,
  isConflict,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  isTooLarge,
  isUnauthorized,
  NetworkError,
} from '../../kube/errors.ts';

/** An unrelated object has a companion's name. The message says what it is. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/**
 * What has the name is no stranger's, but must stay as it is for now: it is being deleted, or its
 * content waits or cannot be rendered. The message says which.
 */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
}

/** The source has changed since it was observed. Its watch event will follow. */
export class StaleSourceError extends Error {
  override readonly name = 'StaleSourceError';
}

/** The server accepted a write, and the object is as it was before. */
export class RevertedError extends Error {
  override readonly name = 'RevertedError';
  override readonly message =
    'the API server accepted the write but changed nothing: a mutating admission policy or webhook reverts it';
}

/**
 * What a failure means for the next attempt:
 * - `transient`: it may succeed at any time.
 * - `blocked`: what has the name must stay for now, and no event shows when that ends (SPEC R6).
 * - `invalid`: the server rejects the object. An admission policy may do so, and change (SPEC R13).
 * - `hopeless`: only a change of the source or the companion can help.
 */
export interface Failure {
  readonly kind: 'transient' | 'blocked' | 'invalid' | 'hopeless';
  /** Normal when a cache is behind, and over with the next attempt: log it at `debug` only. */
  readonly quiet: boolean;
  /** Of a transient one: how long (ms) the server asked to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** Decides what a failed read or write means. `attempts.ts` decides how long to wait. */
export function judge(error: unknown): Failure {
  if (error instanceof BlockedError) return { kind: 'blocked', quiet: false };
  if (error instanceof NotYetError) return { kind: 'blocked', quiet: true };
  // The cache was behind, or something is being deleted. A watch event will follow.
  const isStale = error instanceof StaleSourceError || isConflict(error) || isNotFound(error);
  if (isStale || isNamespaceTerminating(error)) return { kind: 'transient', quiet: true };
  if (isTooLarge(error) || error instanceof RevertedError) return { kind: 'hopeless', quiet: false };
  if (isInvalid(error) || isBadRequest(error)) return { kind: 'invalid', quiet: false };
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return { kind: 'transient', quiet: false, retryAfterMs };
}

/**
 * Whether the server as a whole fails. An outage is reported once, not for each object. A 500 is
 * none if it is about one write: that is too large, or its webhook cannot be called.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError || isUnauthorized(error)) return true;
  if (isTooLarge(error) || !(error instanceof ApiError)) return false;
  if (error.message.includes(WEBHOOK_FAILS)) return false;
  return error.status === 429 || error.status >= 500;
}

/** https://github.com/kubernetes/apiserver/blob/master/pkg/util/webhook/error.go */
const WEBHOOK_FAILS = 'failed calling webhook';

/** The error for a log field, without body or stack. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.reason}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
