import PQueue from 'p-queue';
import type { Clock } from '../clock/clock.ts';
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

/** The part of the writes in flight that bulk may take: beyond it, more at once only wait for the server longer. */
const BULK_SHARE = 1 / 2;
/**
 * The part that is left to bulk while others wait for fresh writes. What is in flight already is what a fresh write waits
 * for at the server: with 16 bulk writes there, an edit took 15 times as long as without, with 2 less than 5 times
 * (docs/performance.md).
 */
const YIELDING_SHARE = 1 / 16;
/** So long after the last fresh write somebody may still be at it, milliseconds. */
const YIELD_MS = 500;

/**
 * The one gate that every write goes through. Fresh writes go before bulk ones and have places of their own, and bulk makes
 * way for them, so that an edit does not wait behind another source's thousand companions (SPEC Q2).
 */
export class WriteLimiter {
  readonly #all: PQueue;
  readonly #bulk: PQueue;
  readonly #clock: Clock;
  readonly #bulkPlaces: { readonly most: number; readonly yielding: number };
  #yieldUntil = Number.NEGATIVE_INFINITY;

  constructor({ maxWritesInFlight, maxWritesPerSecond }: WriteLimits, clock: Clock) {
    this.#all = new PQueue({
      concurrency: maxWritesInFlight,
      ...(maxWritesPerSecond > 0 && { interval: 1000, intervalCap: maxWritesPerSecond, strict: true }),
    });
    this.#bulkPlaces = {
      most: Math.ceil(maxWritesInFlight * BULK_SHARE),
      yielding: Math.ceil(maxWritesInFlight * YIELDING_SHARE),
    };
    this.#bulk = new PQueue({ concurrency: this.#bulkPlaces.most });
    this.#clock = clock;
  }

  /** Calls `write` when its turn comes, and settles as it does, or rejects with what the turn's check throws. */
  run<T>({ lane, check }: WriteTurn, write: () => Promise<T>): Promise<T> {
    const checked = async () => {
      check();
      return write();
    };
    if (lane === 'fresh') {
      // A fan-out begins with fresh writes of its own, before any bulk: they wait for nobody.
      if (this.#bulk.pending > 0) this.#yieldUntil = this.#clock.now() + YIELD_MS;
      this.#share();
      return this.#all.add(checked, { priority: 1 });
    }
    return this.#bulk.add(() => {
      this.#share();
      return this.#all.add(checked);
    });
  }

  /** Without a timer: where no bulk write comes or goes, nobody needs the places. */
  #share(): void {
    const { most, yielding } = this.#bulkPlaces;
    this.#bulk.concurrency = this.#clock.now() < this.#yieldUntil ? yielding : most;
  }
}
