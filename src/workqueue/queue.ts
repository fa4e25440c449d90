/**
 * The workqueue, with the contract of client-go's `util/workqueue`:
 *
 * - Stingy: a key added many times before it is handed out is handed out once.
 * - Exclusive: a key is never handed out again before `done` was called for it.
 * - Lossless: every `add` is followed by a hand-out that begins after it. So a key added while it
 *   is processed is handed out once more after its `done`: what it was added for may have come too
 *   late for that run.
 * - Fair: within a lane, keys are handed out in the order in which they were added.
 * - Two lanes: `fresh` keys overtake `bulk` ones, yet bulk work cannot starve ({@link
 *   FRESH_PER_BULK}). And bulk keys never occupy all workers: at most `bulkLimit` of them are out
 *   at once.
 * - Shut down, it hands out nothing more and drops what is added. (client-go still hands out what
 *   is queued. Our work is level-triggered, and the next start enqueues everything again.)
 *
 * It holds keys only. `delaying-queue.ts` adds delays; the controller remembers how often a key has
 * failed.
 */
import { Fifo } from './fifo.ts';
import { type Lane, LaneOrder } from './lanes.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { Takers } from './takers.ts';
import type { WorkSource } from './workers.ts';

/** Fresh keys in a row that may overtake waiting bulk keys; then one bulk key follows. */
export const FRESH_PER_BULK = 8;

export interface WorkQueueOptions {
  /** Most bulk keys that are out at once, at least 1; default: no limit. */
  readonly bulkLimit?: number;
  /** Default: nothing is measured. */
  readonly metrics?: QueueMetrics | undefined;
}

export class WorkQueue<K extends string = string> implements WorkSource<K> {
  readonly #bulkLimit: number;
  readonly #metrics: QueueMetrics | undefined;
  /** What can be handed out now, in the lane that `#dirty` says. */
  readonly #queued: Readonly<Record<Lane, Fifo<K>>> = { fresh: new Fifo(), bulk: new Fifo() };
  /** Keys that need a run, with the lane: queued, or added again while being processed. */
  readonly #dirty = new Map<K, Lane>();
  /** What was handed out and is not done, with the lane it came from. */
  readonly #processing = new Map<K, Lane>();
  /** Of these, what counts against `bulkLimit`: bulk keys that do not take long. */
  readonly #bulkOut = new Set<K>();
  readonly #takers = new Takers(() => this.#take());
  readonly #order = new LaneOrder(FRESH_PER_BULK);

  constructor({ bulkLimit = Number.POSITIVE_INFINITY, metrics }: WorkQueueOptions = {}) {
    this.#bulkLimit = bulkLimit;
    this.#metrics = metrics;
  }

  /** Keys waiting to be handed out; not those added again while they are processed. */
  get length(): number {
    return this.#queued.fresh.size + this.#queued.bulk.size;
  }

  /** Whether nothing waits and nothing is out. */
  get isIdle(): boolean {
    return this.length === 0 && this.#processing.size === 0;
  }

  get shuttingDown(): boolean {
    return this.#takers.isShutDown;
  }

  /** Says that `key` needs a run. If it is marked already, it may move up from bulk to fresh. */
  add(key: K, lane: Lane = 'fresh'): void {
    if (this.shuttingDown) return;
    const before = this.#dirty.get(key);
    if (before === 'fresh' || before === lane) return;
    if (before === undefined) this.#metrics?.added(key);
    this.#dirty.set(key, lane);
    if (this.#processing.has(key)) return;
    if (before !== undefined) this.#queued[before].delete(key);
    this.#queued[lane].push(key);
    this.#takers.serve();
  }

  /**
   * The next key, as soon as there is one; undefined once the queue is shut down. The caller must
   * call `done` for it.
   */
  get(): Promise<K | undefined> {
    return this.#takers.get();
  }

  /** Says that the processing of `key` has ended, well or not. */
  done(key: K): void {
    if (!this.#processing.delete(key)) return;
    this.#bulkOut.delete(key);
    this.#metrics?.ended(key);
    const again = this.#dirty.get(key);
    if (again !== undefined) this.#queued[again].push(key);
    this.#takers.serve();
  }

  /** `key` takes long: until it is done, it leaves its share of `bulkLimit` to others. */
  lend(key: K): void {
    if (this.#bulkOut.delete(key)) this.#takers.serve();
  }

  /** Whether `key` is processed and was added again as fresh: a user may wait for its next run. */
  isAwaited(key: K): boolean {
    return this.#processing.has(key) && this.#dirty.get(key) === 'fresh';
  }

  /** The lane out of which `key` is being processed, so that a retry takes the same; else fresh. */
  laneOf(key: K): Lane {
    return this.#processing.get(key) ?? 'fresh';
  }

  /** From now on every `get`, waiting or to come, resolves to undefined. Idempotent. */
  shutDown(): void {
    this.#takers.shutDown();
  }

  #take(): K | undefined {
    const { fresh, bulk } = this.#queued;
    const mayBulk = bulk.size > 0 && this.#bulkOut.size < this.#bulkLimit;
    const lane = this.#order.next({ fresh: fresh.size > 0, bulk: mayBulk });
    const key = lane && this.#queued[lane].shift();
    if (lane === undefined || key === undefined) return undefined;
    this.#dirty.delete(key);
    this.#processing.set(key, lane);
    this.#metrics?.begun(key);
    if (lane === 'bulk') this.#bulkOut.add(key);
    return key;
  }
}
