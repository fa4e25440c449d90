import PQueue from 'p-queue';
import type { Lane } from '../workqueue/queue.ts';

/** A write's place in the order, and the last word on it. */
export interface WriteTurn {
  readonly lane: Lane;
  /** Called when the turn has come, right before the write leaves; throws to call the write off. */
  readonly check: () => void;
}

/** This write need not be made: a later pass over the same source will do what is right then. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';
}

export interface WriteLimits {
  /** Writes under way at once, over all sources, at least 1. */
  readonly maxWritesInFlight: number;
  /** Writes begun in any one second; 0: no limit. */
  readonly maxWritesPerSecond: number;
}

/**
 * The part of the writes in flight that bulk may take. The rest is kept free, so that an edit's write leaves at once
 * and meets a server that is not saturated: what is in flight before it is what it waits for there.
 */
const BULK_SHARE = 0.5;

/**
 * The one gate that every write goes through. Fresh writes go before bulk ones and have places of their own, so that
 * an edit does not wait behind another source's thousand companions (SPEC Q2).
 */
export class WriteLimiter {
  readonly #all: PQueue;
  readonly #bulk: PQueue;

  constructor({ maxWritesInFlight, maxWritesPerSecond }: WriteLimits) {
    this.#all = new PQueue({
      concurrency: maxWritesInFlight,
      ...(maxWritesPerSecond > 0 && { interval: 1000, intervalCap: maxWritesPerSecond, strict: true }),
    });
    this.#bulk = new PQueue({ concurrency: Math.ceil(maxWritesInFlight * BULK_SHARE) });
  }

  /** Calls `write` when its turn comes, and settles as it does, or rejects with what the turn's check throws. */
  run<T>({ lane, check }: WriteTurn, write: () => Promise<T>): Promise<T> {
    const checked = async () => {
      check();
      return write();
    };
    if (lane === 'fresh') return this.#all.add(checked, { priority: 1 });
    return this.#bulk.add(() => this.#all.add(checked));
  }
}
