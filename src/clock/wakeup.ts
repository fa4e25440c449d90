import { type Clock, sleep } from './clock.ts';

/** Lets a loop wait until there may be something to do. A wake before the wait is not lost. */
export class Wakeup {
  #woken = new AbortController();

  wake(): void {
    this.#woken.abort();
  }

  /** Resolves when woken, or after `waitMs`. */
  async wait(clock: Clock, waitMs = Number.POSITIVE_INFINITY): Promise<void> {
    await sleep(clock, waitMs, this.#woken.signal);
    this.#woken = new AbortController();
  }
}
