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
 * for at the server: during a fan-out the slowest edits took as long as 15 quiet ones with 16 bulk writes there, 5 with 2,
 * and less than 4 with 1 (docs/performance.md).
 */
const YIELDING_SHARE = 1 / 32;
/** So long after the last fresh write somebody may still be at it, milliseconds. */
const YIELD_MS = 500;
/** A bulk write without an answer for so long, milliseconds, does not count among those that are left to bulk (SPEC R9). */
const OVERDUE_MS = 500;

/** What a write holds from its turn until its end. */
interface Place {
  /** On the clock's reading. */
  readonly takenAt: number;
}

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
  readonly #waiting: Readonly<Record<Lane, ((place: Place) => void)[]>> = { fresh: [], bulk: [] };
  readonly #taken: Readonly<Record<Lane, Set<Place>>> = { fresh: new Set(), bulk: new Set() };
  #yieldUntil = Number.NEGATIVE_INFINITY;
  #nextLook: Timer | undefined;

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
    if (lane === 'fresh' && (!leadsBulk || this.#taken.bulk.size > 0)) this.#beginYield();
    // Whoever waits has a place before whoever comes.
    const isFree = this.#waiting[lane].length === 0 && this.#hasPlace(lane);
    const place = isFree ? this.#take(lane) : await this.#wait(lane);
    try {
      if (this.#paced !== undefined) await this.#paced.add(noop, { priority: lane === 'fresh' ? 1 : 0 });
      check();
      return await write();
    } finally {
      this.#taken[lane].delete(place);
      this.#admit('fresh');
      this.#admit('bulk');
    }
  }

  #take(lane: Lane): Place {
    const place = { takenAt: this.#clock.now() };
    this.#taken[lane].add(place);
    return place;
  }

  #wait(lane: Lane): Promise<Place> {
    return new Promise((admit) => {
      this.#waiting[lane].push(admit);
    });
  }

  #beginYield(): void {
    this.#yieldUntil = this.#clock.now() + YIELD_MS;
    this.#nextLook ??= this.#clock.setTimer(YIELD_MS, this.#look);
  }

  /**
   * From time to time until the end of the yield: whatever place is left to bulk, it goes on even if those that have it
   * get no answer (SPEC R9).
   */
  readonly #look = (): void => {
    const leftMs = this.#yieldUntil - this.#clock.now();
    this.#nextLook = leftMs > 0 ? this.#clock.setTimer(leftMs, this.#look) : undefined;
    this.#admit('bulk');
  };

  #admit(lane: Lane): void {
    while (this.#waiting[lane].length > 0 && this.#hasPlace(lane)) {
      this.#waiting[lane].shift()?.(this.#take(lane));
    }
  }

  #hasPlace(lane: Lane): boolean {
    const { fresh, bulk } = this.#taken;
    if (fresh.size + bulk.size >= this.#places) return false;
    if (lane === 'fresh') return true;
    const { most, yielding } = this.#bulkPlaces;
    if (bulk.size >= most) return false;
    const now = this.#clock.now();
    if (now >= this.#yieldUntil) return true;
    return [...bulk].filter(({ takenAt }) => now - takenAt < OVERDUE_MS).length < yielding;
  }
}

const noop = async () => undefined;
