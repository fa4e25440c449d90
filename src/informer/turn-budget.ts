import { type Clock, sleep } from '../clock/clock.ts';

/** Work in one turn of the event loop, milliseconds, give or take one item: well below the 50 that W2 allows. */
const BUDGET_MS = 10;

/**
 * Spreads work over turns of the event loop. Only time spent working counts, over several calls, so a
 * lone event after a quiet hour is handled at once, and many small batches in a row still make way.
 */
export class TurnBudget {
  readonly #clock: Clock;
  #usedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does `work` on each item in order. Rejects with the signal's reason when it aborts between two turns. */
  async each<T>(items: Iterable<T>, work: (item: T) => void, signal: AbortSignal): Promise<void> {
    let last = this.#clock.now();
    for (const item of items) {
      work(item);
      const now = this.#clock.now();
      this.#usedMs += now - last;
      last = now;
      if (this.#usedMs < BUDGET_MS) continue;
      await sleep(this.#clock, 0, signal);
      signal.throwIfAborted();
      this.#usedMs = 0;
      last = this.#clock.now();
    }
  }
}
