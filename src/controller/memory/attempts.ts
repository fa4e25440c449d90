import { type BackoffOptions, backoffDelay } from '../../clock/backoff.ts';
import type { Failure } from './failure.ts';

/** The failed attempts to write one companion, or to plan one source. */
export interface Attempt extends Pick<Failure, 'kind' | 'quiet'> {
  /** Failures in a row. */
  readonly failures: number;
  /** When the next attempt may begin, on the clock; Infinity: never. */
  readonly notBefore: number;
  /** What was attempted. A different attempt need not wait. */
  readonly fingerprint: string;
}

/**
 * client-go begins at 5 ms. The most common failure is a conflict, because the cache is a moment
 * behind; 50 ms let the watch catch up.
 */
const TRANSIENT: BackoffOptions = { baseMs: 50, capMs: 30_000, jitter: 0.5 };
const INVALID: BackoffOptions = { baseMs: 30_000, capMs: 30_000, jitter: 0.1 };
/** SPEC R6 promises 30 s, including the attempt itself. */
const BLOCKED: BackoffOptions = { baseMs: 25_000, capMs: 25_000, jitter: 0.2 };

export function afterFailure(
  before: Attempt | undefined,
  failure: Failure,
  fingerprint: string,
  now: number,
  random: () => number,
): Attempt {
  const failures = (before?.failures ?? 0) + 1;
  const { kind, quiet } = failure;
  return { failures, kind, quiet, notBefore: now + delayMs(failures, failure, random), fingerprint };
}

/** Time (ms) until the attempt with this fingerprint may begin; 0: now; Infinity: never. */
export function waitMs(attempt: Attempt | undefined, fingerprint: string, now: number): number {
  if (attempt === undefined || attempt.fingerprint !== fingerprint) return 0;
  return Math.max(0, attempt.notBefore - now);
}

function delayMs(failures: number, failure: Failure, random: () => number): number {
  switch (failure.kind) {
    case 'transient':
      return Math.max(backoffDelay(failures, TRANSIENT, random), failure.retryAfterMs ?? 0);
    case 'blocked':
      return backoffDelay(1, BLOCKED, random);
    case 'invalid':
      return backoffDelay(1, INVALID, random);
    case 'hopeless':
      return Number.POSITIVE_INFINITY;
  }
}
