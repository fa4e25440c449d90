import { setImmediate as turn } from 'node:timers/promises';
import { aborted, type Clock, sleep } from '../clock/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WorkQueue } from './queue.ts';

/** After handing out keys for so long without a pause, timers and sockets get a turn. */
const TIME_SLICE_MS = 10;

export interface WorkersOptions<K extends string> {
  readonly queue: WorkQueue<K>;
  /**
   * Processes one key. Whether to try again is decided in here, by calling the queue's `forget`, `addRateLimited` or
   * `addAfter`; an error that escapes is logged as a fault and not retried.
   */
  readonly process: (key: K) => Promise<void>;
  /** Keys processed at once, at least 1. */
  readonly concurrency: number;
  /** How long a stop waits for what is in flight, milliseconds. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Each takes one key after the other out of the queue, runs `process` for it, and marks it done. */
export class Workers<K extends string> {
  readonly #options: WorkersOptions<K>;
  #inFlight = 0;
  /** When the first key of this turn of the event loop was taken; undefined: none was. */
  #turnBegan: number | undefined;

  constructor(options: WorkersOptions<K>) {
    this.#options = options;
  }

  /**
   * Works until `signal` aborts, which shuts the queue down. Then waits for what is in flight, at most `drainMs`.
   * Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { queue, concurrency, logger } = this.#options;
    // A worker takes a key only when it can start on it, so that what waits does so in the queue, where its order is kept.
    const workers = Promise.all(Array.from({ length: concurrency }, () => this.#work(signal)));

    await aborted(signal);
    queue.shutDown();
    if (!(await this.#ended(workers))) {
      logger.warn({ keys: this.#inFlight }, 'stopped before everything in flight had ended');
    }
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#options.queue.get();
      while (this.#isTurnLong()) await turn();
      if (key === undefined || signal.aborted) return;
      await this.#processOne(key);
    }
  }

  /** Keys that need no I/O follow each other in microtasks, and 10,000 of them would block the event loop. */
  #isTurnLong(): boolean {
    const { clock } = this.#options;
    if (this.#turnBegan !== undefined) return clock.now() - this.#turnBegan >= TIME_SLICE_MS;
    this.#turnBegan = clock.now();
    setImmediate(() => {
      this.#turnBegan = undefined;
    });
    return false;
  }

  /** Never rejects: one key's fault must not end the work on the others. */
  async #processOne(key: K): Promise<void> {
    const { queue, process, logger } = this.#options;
    this.#inFlight += 1;
    try {
      await process(key);
    } catch (err) {
      logger.error({ key, err }, 'processing failed unexpectedly; not retried');
    } finally {
      this.#inFlight -= 1;
      queue.done(key);
    }
  }

  /** True when everything handed out has ended within the drain time. */
  async #ended(workers: Promise<unknown>): Promise<boolean> {
    const { clock, drainMs } = this.#options;
    const ended = new AbortController();
    const idle = workers.then(() => {
      ended.abort();
      return true;
    });
    return Promise.race([idle, sleep(clock, drainMs, ended.signal).then(() => ended.signal.aborted)]);
  }
}
