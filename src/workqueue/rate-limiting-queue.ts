import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { DelayingQueue, type DelayingQueueOptions } from './delaying-queue.ts';
import type { Lane } from './queue.ts';

/**
 * How long a key waits before it is tried again. client-go begins at 5 ms, which for the commonest failure (a
 * conflict, since our cache is a moment behind) often means to fail again; 50 ms leaves the watch time to catch up,
 * and the cap is reached after ten failures, in about 40 s. Jitter keeps keys that failed together apart.
 */
export const RETRY_BACKOFF: BackoffOptions = { baseMs: 50, capMs: 30_000, jitter: 0.5 };

export interface RateLimitingQueueOptions extends DelayingQueueOptions {
  /** A number in [0, 1), for the jitter. */
  readonly random: () => number;
}

export interface RetryOptions {
  /** The key waits at least so long, milliseconds from now, even beyond the cap: a server's `Retry-After`. Default 0. */
  readonly notBeforeMs?: number | undefined;
  /** Default: the lane out of which the key is being processed. */
  readonly lane?: Lane | undefined;
}

/**
 * A workqueue that makes failing keys wait, each by its own count of failures. There is no limit over all keys, as
 * client-go has one: the writes themselves are limited, where they are made.
 */
export class RateLimitingQueue<K extends string = string> extends DelayingQueue<K> {
  readonly #random: () => number;
  readonly #failures = new Map<K, number>();

  constructor(options: RateLimitingQueueOptions) {
    super(options);
    this.#random = options.random;
  }

  /**
   * Counts one more failure of `key` and adds it again after {@link RETRY_BACKOFF}'s delay. Returns the delay,
   * milliseconds, for the log.
   */
  addRateLimited(key: K, options: RetryOptions = {}): number {
    const failures = this.numRequeues(key) + 1;
    this.#failures.set(key, failures);
    const backoff = backoffDelay(failures, RETRY_BACKOFF, this.#random);
    const delayMs = Math.max(backoff, options.notBeforeMs ?? 0);
    this.addAfter(key, delayMs, options.lane);
    return delayMs;
  }

  /**
   * Ends the count of failures: to be called when `key` has succeeded, or is given up. A key that is never
   * forgotten is a small leak. Does not call off a delay that is under way.
   */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  /** Failures since the last `forget`. */
  numRequeues(key: K): number {
    return this.#failures.get(key) ?? 0;
  }
}
