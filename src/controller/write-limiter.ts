import PQueue from 'p-queue';
import type { Clock, Timer } from '../clock/clock.ts';
import type { Lane } from '../workqueue/queue.ts';

/** A write's place in the order, and the last word on it. */
export interface WriteTurn {
  readonly lane: Lane;
  /** Whether this fresh write begins a fan-out: the bulk that follows need not make way for what belongs to it. */
  readonly leadsBulk: boolean;
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
  readonly #clock: Clock;
  readonly #places: number;
  readonly #bulkPlaces: { readonly most: number; readonly yielding: number };
  /** Of p-queue only its rate limit is used: it has one bound, and no lanes with shares in it. */
  readonly #paced: PQueue | undefined;
  /** In the order in which they came: called when there is a place. */
  readonly #waiting: Readonly<Record<Lane, (() => void)[]>> = { fresh: [], bulk: [] };
  readonly #underWay: Record<Lane, number> = { fresh: 0, bulk: 0 };
  #yieldUntil = Number.NEGATIVE_INFINITY;
  #yieldEnd: Timer | undefined;

  constructor({ maxWritesInFlight, maxWritesPerSecond }: WriteLimits, clock: Clock) {
    this.#clock = clock;
    this.#places = maxWritesInFlight;
    this.#bulkPlaces = {
      most: Math.ceil(maxWritesInFlight * BULK_SHARE),
      yielding: Math.ceil(maxWritesInFlight * YIELDING_SHARE),
    };
    if (maxWritesPerSecond > 0) {
      this.#paced = new PQueue({ interval: 1000, intervalCap: maxWritesPerSecond, strict: true });
    }
  }

  /** Calls `write` when its turn comes, and settles as it does, or rejects with what the turn's check throws. */
  async run<T>({ lane, leadsBulk, check }: WriteTurn, write: () => Promise<T>): Promise<T> {
    if (lane === 'fresh' && (!leadsBulk || this.#underWay.bulk > 0)) this.#beginYield();
    // Whoever waits has a place before whoever comes.
    if (this.#waiting[lane].length === 0 && this.#hasPlace(lane)) this.#underWay[lane] += 1;
    else await this.#place(lane);
    try {
      if (this.#paced !== undefined) await this.#paced.add(noop, { priority: lane === 'fresh' ? 1 : 0 });
      check();
      return await write();
    } finally {
      this.#underWay[lane] -= 1;
      this.#admit('fresh');
      this.#admit('bulk');
    }
  }

  #place(lane: Lane): Promise<void> {
    return new Promise((admit) => {
      this.#waiting[lane].push(admit);
    });
  }

  #beginYield(): void {
    this.#yieldUntil = this.#clock.now() + YIELD_MS;
    this.#yieldEnd ??= this.#clock.setTimer(YIELD_MS, this.#lookForYieldEnd);
  }

  /** Bulk has its places back in time even if those that were left to it are held by writes that get no answer (SPEC R9). */
  readonly #lookForYieldEnd = (): void => {
    const leftMs = this.#yieldUntil - this.#clock.now();
    this.#yieldEnd = leftMs > 0 ? this.#clock.setTimer(leftMs, this.#lookForYieldEnd) : undefined;
    if (leftMs <= 0) this.#admit('bulk');
  };

  #admit(lane: Lane): void {
    while (this.#waiting[lane].length > 0 && this.#hasPlace(lane)) {
      this.#underWay[lane] += 1;
      this.#waiting[lane].shift()?.();
    }
  }

  #hasPlace(lane: Lane): boolean {
    const { fresh, bulk } = this.#underWay;
    if (fresh + bulk >= this.#places) return false;
    if (lane === 'fresh') return true;
    const { most, yielding } = this.#bulkPlaces;
    return bulk < (this.#clock.now() < this.#yieldUntil ? yielding : most);
  }
}

const noop = async () => undefined;
