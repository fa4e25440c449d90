/** Lets one waiter sleep until it is woken or the signal aborts. An earlier wake is not lost. */
export class Wakeup {
  readonly #signal: AbortSignal;
  #woken = false;
  #resolve: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  wake(): void {
    this.#woken = true;
    this.#resolve?.();
  }

  async wait(): Promise<void> {
    if (!this.#woken && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    }
    this.#woken = false;
    this.#resolve = undefined;
  }
}
