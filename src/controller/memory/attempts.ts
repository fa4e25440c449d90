import { type BackoffOptions, backoffDelay } from '../../clock/backoff.ts';
import type { Failure } from './failure.ts';

/** What is remembered of the failed attempts at one thing: writing a companion, or reconciling a source. */
export interface Attempt {
  /** Failures in a row. */
  readonly failures: number;
  readonly kind: Failure['kind'];
  /** When the next attempt may begin, on the clock's reading; Infinity: never. */
  readonly notBefore: number;
  /** What was attempted. Something else may be attempted at once. */
  readonly fingerprint: string;
}

/**
 * client-go begins at 5 ms, which for the commonest failure (a conflict, since the cache is a moment behind) often means
 * to fail again. 50 ms lets the watch catch up, and ten failures in a row take about 40 s.
 */
const TRANSIENT: BackoffOptions = { baseMs: 50, capMs: 30_000, jitter: 0.5 };
const INVALID: BackoffOptions = { baseMs: 30_000, capMs: 30_000, jitter: 0.1 };
/** SPEC R6 promises 30 s, the attempt itself included. */
const BLOCKED: BackoffOptions = { baseMs: 25_000, capMs: 25_000, jitter: 0.2 };

/** The attempts after one more failure. `now`: the clock's reading. */
export function afterFailure(
  before: Attempt | undefined,
  failure: Failure,
  fingerprint: string,
  now: number,
  random: () => number,
): Attempt {
  const failures = (before?.failures ?? 0) + 1;
  return { failures, kind: failure.kind, notBefore: now + delayMs(failures, failure, random), fingerprint };
}

/** Milliseconds until what `fingerprint` stands for may be attempted; 0: now; Infinity: never. */
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
