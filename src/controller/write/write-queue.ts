import type { Clock, Timer } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { type Lane, LaneOrder } from '../../workqueue/lanes.ts';
import { Takers } from '../../workqueue/takers.ts';
import type { WorkSource } from '../../workqueue/workers.ts';
import type { PassReport } from './pass-report.ts';
import type { WriteRate } from './write-rate.ts';
import type { Origin, WriteStep } from './write-step.ts';

/** What the writes of a pass need to know of it. */
export interface Pass extends Origin {
  readonly key: ObjectKey;
  readonly lane: Lane;
  readonly report: PassReport;
  /** When (on the clock) fresh changes that it has not seen may end it. */
  readonly yieldsAt: number;
}

export interface Write {
  readonly pass: Pass;
  readonly step: WriteStep;
}

/** The writes of one pass that have not begun. */
interface Batch {
  readonly pass: Pass;
  /** The next one is taken from the end. */
  readonly steps: WriteStep[];
  readonly onEmpty: () => void;
}

export interface WriteQueueOptions {
  /** Writes in flight at once. */
  readonly slots: number;
  readonly rate: WriteRate;
  readonly clock: Clock;
  /** Whether the writes of the pass that have not begun are to be dropped. */
  readonly isOutdated: (pass: Pass) => boolean;
  /** Called when a write has ended, for each source that it concerns and that was planned since. */
  readonly requeue: (source: ObjectKey, lane: Lane) => void;
}

/** Most writes of a fresh pass. A pass with more is a fan-out, and all its writes are bulk. */
const MOST_FRESH_WRITES = 8;
/** Share of the slots that bulk may hold, so that a fresh write always finds a free one. */
const BULK_SHARE = 1 / 2;
/**
 * Share of the slots that bulk may hold while others make fresh writes, which the server answers
 * after what is in flight. `npm run bench -- --scenario busy` shows the effect.
 */
const YIELDING_SHARE = 1 / 32;
/** Fresh writes in a row that may overtake waiting bulk ones, so that these do not starve. */
const FRESH_WRITES_PER_BULK = 1 / YIELDING_SHARE;
/** Time (ms) after a fresh write during which bulk keeps to its smaller share. */
const YIELD_MS = 500;

/**
 * Decides which write may begin next, and when. Fresh writes go before bulk ones, the passes of one
 * lane take turns, and a companion is never written twice at once (SPEC Q2, Q4, R16).
 */
export class WriteQueue implements WorkSource<Write> {
  readonly #options: WriteQueueOptions;
  readonly #bulkSlots: { readonly most: number; readonly yielding: number };
  readonly #batches: Readonly<Record<Lane, Batch[]>> = { fresh: [], bulk: [] };
  /** Companions being written, with the sources to queue when the write has ended. */
  readonly #out = new Map<ObjectKey, { readonly write: Write; readonly again: Map<ObjectKey, Lane> }>();
  /** Bulk writes that hold a slot. */
  readonly #bulkOut = new Set<Write>();
  readonly #takers = new Takers(() => this.#take());
  readonly #order = new LaneOrder(FRESH_WRITES_PER_BULK);
  /** Until then bulk keeps to its smaller share. */
  #endOfYield: Timer | undefined;
  #endOfPause: Timer | undefined;

  constructor(options: WriteQueueOptions) {
    const { slots } = options;
    this.#options = options;
    this.#bulkSlots = { most: Math.ceil(slots * BULK_SHARE), yielding: Math.ceil(slots * YIELDING_SHARE) };
  }

  /** Whether nothing waits and nothing is being written. */
  get isIdle(): boolean {
    return this.#out.size === 0 && this.#batches.fresh.length + this.#batches.bulk.length === 0;
  }

  /**
   * Queues the writes of a pass, which begin with the last. Resolves when all have begun, without
   * waiting for answers.
   */
  add(pass: Pass, steps: readonly WriteStep[]): Promise<void> {
    const lane = steps.length > MOST_FRESH_WRITES ? 'bulk' : pass.lane;
    this.#noteWritesUnderWay(pass.key, lane);
    if (steps.length === 0 || this.#takers.isShutDown) return Promise.resolve();
    if (lane === 'fresh') this.#beginYield();
    return new Promise((onEmpty) => {
      this.#batches[lane].push({ pass, steps: [...steps], onEmpty });
      this.#takers.serve();
    });
  }

  get(): Promise<Write | undefined> {
    return this.#takers.get();
  }

  done(write: Write): void {
    const { companion } = write.step;
    const again = this.#out.get(companion)?.again;
    this.#out.delete(companion);
    this.#bulkOut.delete(write);
    for (const [source, lane] of again ?? []) this.#options.requeue(source, lane);
    this.#takers.serve();
  }

  lend(write: Write): void {
    if (this.#bulkOut.delete(write)) this.#takers.serve();
  }

  shutDown(): void {
    this.#endOfYield?.cancel();
    this.#endOfPause?.cancel();
    for (const batch of [...this.#batches.fresh.splice(0), ...this.#batches.bulk.splice(0)]) batch.onEmpty();
    this.#takers.shutDown();
  }

  #take(): Write | undefined {
    for (;;) {
      if (this.#mustPause()) return undefined;
      const lane = this.#nextLane();
      const batch = lane && this.#batches[lane].shift();
      if (lane === undefined || batch === undefined) return undefined;
      const write = this.#begin(batch, lane);
      if (write !== undefined) return write;
    }
  }

  /** Begins a write of the batch, unless the pass is outdated or its companion is being written. */
  #begin(batch: Batch, lane: Lane): Write | undefined {
    const { pass, steps, onEmpty } = batch;
    // Asked before the rate counts a write, so that what is dropped uses up none of it.
    if (this.#options.isOutdated(pass)) {
      for (const _ of steps) pass.report.ended();
      onEmpty();
      return undefined;
    }
    const step = steps.pop();
    if (steps.length > 0) this.#batches[lane].push(batch);
    else onEmpty();
    if (step === undefined) return undefined;
    const underWay = this.#out.get(step.companion);
    if (underWay !== undefined) {
      // After that write the right step may be a different one, so the source is planned again.
      underWay.again.set(pass.key, lane);
      pass.report.ended();
      return undefined;
    }
    const write = { pass, step };
    this.#options.rate.begin();
    this.#out.set(step.companion, { write, again: new Map() });
    if (lane === 'bulk') this.#bulkOut.add(write);
    return write;
  }

  /** Whether the write rate limit holds what waits. If so, it is served afterwards. */
  #mustPause(): boolean {
    const { fresh, bulk } = this.#batches;
    const waitMs = fresh.length + bulk.length > 0 ? this.#options.rate.waitMs() : 0;
    if (waitMs > 0) {
      this.#endOfPause ??= this.#options.clock.setTimer(waitMs, () => {
        this.#endOfPause = undefined;
        this.#takers.serve();
      });
    }
    return waitMs > 0;
  }

  /** A plan does not see what writes under way will do, so the source is planned again then. */
  #noteWritesUnderWay(source: ObjectKey, lane: Lane): void {
    for (const { write, again } of this.#out.values()) {
      if (write.pass.key === source) again.set(source, lane);
    }
  }

  #nextLane(): Lane | undefined {
    const { fresh, bulk } = this.#batches;
    const { most, yielding } = this.#bulkSlots;
    const slots = this.#endOfYield === undefined ? most : yielding;
    const mayBulk = bulk.length > 0 && this.#bulkOut.size < slots;
    return this.#order.next({ fresh: fresh.length > 0, bulk: mayBulk });
  }

  #beginYield(): void {
    this.#endOfYield?.cancel();
    this.#endOfYield = this.#options.clock.setTimer(YIELD_MS, () => {
      this.#endOfYield = undefined;
      this.#takers.serve();
    });
  }
}
