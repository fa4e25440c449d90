import { setImmediate as nextTurn } from 'node:timers/promises';
import { aborted, type Clock, sleep } from '../clock/clock.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Time (ms) of handing out items after which timers and sockets get a turn of the event loop. */
const TIME_SLICE_MS = 10;
/** Time (ms) after which an item's worker is replaced by another until it comes back. */
const OVERDUE_MS = 500;
/**
 * Most workers with an overdue item, in multiples of the concurrency, so that a server that never
 * answers does not get all items.
 */
const MOST_OVERDUE = 7;

/** Where workers get their items. */
export interface WorkSource<T> {
  /**
   * The next item, as soon as there is one; undefined once it is shut down. Each item must be given
   * back by `done`.
   */
  get(): Promise<T | undefined>;
  /** The processing of the item has ended, well or not. */
  done(item: T): void;
  /** The item takes long: until it is done, it does not count among what is under way. */
  lend(item: T): void;
  /** Hands out nothing more. */
  shutDown(): void;
}

export interface WorkersOptions<T> {
  readonly source: WorkSource<T>;
  /**
   * Processes one item. Retries are decided in here; an error that escapes is logged as a fault and
   * not retried.
   */
  readonly process: (item: T) => Promise<void>;
  /** Items processed at once, at least 1; overdue ones come on top. */
  readonly concurrency: number;
  /** Longest time (ms) that a stop waits for what is in flight. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Each worker takes one item after the other, processes it, and gives it back. When an item waits
 * for a server longer than half a second, another worker takes the place of the one that waits, so
 * that the item holds up nothing else (SPEC R16).
 */
export class Workers<T> {
  readonly #options: WorkersOptions<T>;
  readonly #working = new Set<Promise<void>>();
  /** What is being processed, oldest first, and since when on the clock. */
  readonly #inFlight = new Map<T, number>();
  /** When the processing of an item last ended, or of the first one began. */
  #progressAt = 0;
  #overdue = 0;
  /** Aborts with the error that ended a worker: a fault in `source`: items' errors are caught. */
  readonly #death = new AbortController();
  /** When the first item of this turn of the event loop was taken; undefined: none was. */
  #turnBegan: number | undefined;

  constructor(options: WorkersOptions<T>) {
    this.#options = options;
  }

  /**
   * Works until `signal` aborts, which shuts the source down. Then waits for what is in flight, at
   * most `drainMs`. Rejects with the fault when a worker dies, since its work would stay undone.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { source, concurrency, drainMs, clock, log } = this.#options;
    for (let worker = 0; worker < concurrency; worker++) this.#start(signal);
    await Promise.race([aborted(signal), aborted(this.#death.signal)]);
    source.shutDown();
    this.#death.signal.throwIfAborted();
    const ended = new AbortController();
    void Promise.all(this.#working).then(() => ended.abort());
    await sleep(clock, drainMs, ended.signal);
    if (ended.signal.aborted) return;
    log.warn({ items: this.#inFlight.size }, 'stopped before everything in flight had ended');
  }

  /** For how long (ms) the oldest item has been processed; 0: none is. */
  oldestMs(): number {
    const [begunAt] = this.#inFlight.values();
    return begunAt === undefined ? 0 : this.#options.clock.now() - begunAt;
  }

  /** For how long (ms) items have been processed and the processing of none has ended. */
  stalledMs(): number {
    return this.#inFlight.size === 0 ? 0 : this.#options.clock.now() - this.#progressAt;
  }

  #start(signal: AbortSignal): void {
    const work = this.#work(signal).catch((error) => this.#death.abort(error));
    this.#working.add(work);
    void work.then(() => this.#working.delete(work));
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const item = await this.#options.source.get();
      while (this.#isTurnLong()) await nextTurn();
      if (item === undefined || signal.aborted) return;
      const isReplaced = await this.#processOne(item, signal);
      if (isReplaced) return;
    }
  }

  /**
   * Items that need no I/O follow each other in microtasks, and 10,000 of them would block the
   * event loop.
   */
  #isTurnLong(): boolean {
    const { clock } = this.#options;
    if (this.#turnBegan !== undefined) return clock.now() - this.#turnBegan >= TIME_SLICE_MS;
    this.#turnBegan = clock.now();
    setImmediate(() => {
      this.#turnBegan = undefined;
    });
    return false;
  }

  /** Resolves to whether another worker has taken this one's place meanwhile. Never rejects. */
  async #processOne(item: T, signal: AbortSignal): Promise<boolean> {
    const { source, process, concurrency, clock, log } = this.#options;
    let isReplaced = false;
    const overdue = clock.setTimer(OVERDUE_MS, () => {
      if (signal.aborted || this.#overdue >= MOST_OVERDUE * concurrency) return;
      isReplaced = true;
      this.#overdue += 1;
      source.lend(item);
      this.#start(signal);
    });
    if (this.#inFlight.size === 0) this.#progressAt = clock.now();
    this.#inFlight.set(item, clock.now());
    try {
      await process(item);
    } catch (err) {
      log.error({ item: String(item), err }, 'processing failed unexpectedly; not retried');
    } finally {
      overdue.cancel();
      this.#inFlight.delete(item);
      this.#progressAt = clock.now();
      if (isReplaced) this.#overdue -= 1;
      source.done(item);
    }
    return isReplaced;
  }
}
