import { type Clock, every } from '../clock/clock.ts';

const INTERVAL_MS = 1_000;

/** Notices that the event loop is held up: its own timer, once a second, comes late. */
export class Heartbeat {
  readonly #clock: Clock;
  #lastAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastAt = clock.now();
  }

  /** Beats until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#lastAt = this.#clock.now();
    await every(this.#clock, INTERVAL_MS, signal, () => {
      this.#lastAt = this.#clock.now();
    });
  }

  /** How late (ms) the next beat is; 0: it is not due. */
  lateMs(): number {
    return Math.max(0, this.#clock.now() - this.#lastAt - INTERVAL_MS);
  }
}
