import { setImmediate as turn } from 'node:timers/promises';
import PQueue from 'p-queue';
import { type Clock, sleep } from '../clock/clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { WorkQueue } from './queue.ts';

/** After handing out keys for so long without a pause, timers and sockets get a turn. */
const TIME_SLICE_MS = 10;

export interface WorkersOptions<K extends string> {
  readonly queue: WorkQueue<K>;
  /**
   * Processes one key. Whether to try again is decided in here, by calling the queue's `forget`, `addRateLimited` or
   * `addAfter`; an error that escapes is logged as a fault and not retried. `signal` aborts when the drain time is over.
   */
  readonly process: (key: K, signal: AbortSignal) => Promise<void>;
  /** Keys processed at once, at least 1. */
  readonly concurrency: number;
  /** How long a stop waits for what is in flight, milliseconds. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Takes keys out of a queue, runs `process` for up to `concurrency` of them at once, and marks them done. */
export class Workers<K extends string> {
  readonly #options: WorkersOptions<K>;

  constructor(options: WorkersOptions<K>) {
    this.#options = options;
  }

  /**
   * Works until `signal` aborts, which shuts the queue down. Then waits for what is in flight, at most `drainMs`; after
   * that it aborts the signal that `process` was given and resolves without waiting any longer. Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { queue, concurrency, logger } = this.#options;
    // Of p-queue only the bound is used: its time limit and abort free a slot while the task in it still runs.
    const executor = new PQueue({ concurrency });
    const inFlight = new AbortController();
    const dispatched = this.#dispatch(executor, signal, inFlight.signal);

    await aborted(signal);
    queue.shutDown();
    if (!(await this.#drained(dispatched, executor))) {
      logger.warn({ keys: executor.pending }, 'stopped before everything in flight had ended');
    }
    inFlight.abort();
  }

  /** Hands a key over only when it can start, so that what waits does so in our queue, where its order is kept. */
  async #dispatch(executor: PQueue, signal: AbortSignal, inFlight: AbortSignal): Promise<void> {
    const { queue, clock } = this.#options;
    let sliceStart = clock.now();
    for (;;) {
      // Keys that need no I/O follow each other in microtasks, and 10,000 of them would block the event loop.
      if (clock.now() - sliceStart >= TIME_SLICE_MS) {
        await turn();
        sliceStart = clock.now();
      }
      if (executor.pending >= executor.concurrency) await slotFree(executor);
      const key = await queue.get();
      if (key === undefined || signal.aborted) return;
      void executor.add(() => this.#processOne(key, inFlight));
    }
  }

  /** Never rejects: one key's fault must not end the work on the others. */
  async #processOne(key: K, inFlight: AbortSignal): Promise<void> {
    const { queue, process, logger } = this.#options;
    try {
      await process(key, inFlight);
    } catch (err) {
      logger.error({ key, err }, 'processing failed unexpectedly; not retried');
    } finally {
      queue.done(key);
    }
  }

  /** True when everything handed out has ended within the drain time. */
  async #drained(dispatched: Promise<void>, executor: PQueue): Promise<boolean> {
    const { clock, drainMs } = this.#options;
    const ended = new AbortController();
    const idle = dispatched
      .then(() => executor.onIdle())
      .then(() => {
        ended.abort();
        return true;
      });
    return Promise.race([idle, sleep(clock, drainMs, ended.signal).then(() => ended.signal.aborted)]);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function slotFree(executor: PQueue): Promise<void> {
  return new Promise((resolve) => executor.once('next', resolve));
}
