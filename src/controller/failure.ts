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
} from '../kube/errors.ts';
import type { Failure } from './attempts.ts';
import { StaleSourceError } from './source-bodies.ts';

/** Something that is not ours is at a companion's name; the message says what. */
export class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/** What is at the name is being deleted, and hangs on somebody's finalizer. */
export class LeavingError extends Error {
  override readonly name = 'LeavingError';
}

/**
 * The server has taken a write and changed nothing: the object has the version from which the write was computed. So
 * somebody in the server, a mutating admission policy or webhook, undoes what we ask for.
 */
export class WithoutEffectError extends Error {
  override readonly name = 'WithoutEffectError';
  override readonly message =
    'the API server takes the write and changes nothing: a mutating admission policy or webhook keeps it as it is';
}

export interface Verdict {
  readonly failure: Failure;
  /** What happens all the time between a cache and a server, and mends itself: no line in the log. */
  readonly quiet: boolean;
}

const RETRY_QUIETLY: Verdict = { failure: { kind: 'transient', retryAfterMs: undefined }, quiet: true };

/** What a failed write means for the next attempt. The only place where that is decided; how long to wait is `attempts.ts`'s. */
export function judge(error: unknown): Verdict {
  if (error instanceof BlockedError) return { failure: { kind: 'blocked' }, quiet: false };
  if (error instanceof LeavingError) return { failure: { kind: 'blocked' }, quiet: true };
  // Our cache was behind, or the object is gone, or its namespace is going: an event is under way that tells.
  if (error instanceof StaleSourceError || isConflict(error) || isNotFound(error)) return RETRY_QUIETLY;
  if (isNamespaceTerminating(error)) return RETRY_QUIETLY;
  if (isTooLarge(error) || error instanceof WithoutEffectError)
    return { failure: { kind: 'hopeless' }, quiet: false };
  if (isInvalid(error) || isBadRequest(error)) return { failure: { kind: 'invalid' }, quiet: false };
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return { failure: { kind: 'transient', retryAfterMs }, quiet: false };
}

/** Whether the trouble is with the server as a whole, not with one object: then it is said once, not for each. */
export function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError || isUnauthorized(error)) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/** The error in a few words for a log field: never a body, never a stack. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.reason}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
