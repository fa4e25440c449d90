import type { Clock } from '../../clock/clock.ts';

const SECOND_MS = 1000;

/** Lets no more than a number of writes begin in any one second (SPEC Q4). */
export class WriteRate {
  readonly #perSecond: number;
  readonly #clock: Clock;
  /** When the last `perSecond` writes began or will begin, on the clock, oldest first. */
  readonly #times: number[] = [];

  /** `perSecond` 0: no limit. */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** Time (ms) until another write may begin; 0: it may now. */
  waitMs(): number {
    const [oldest] = this.#times;
    if (oldest === undefined || this.#times.length < this.#perSecond) return 0;
    return Math.max(0, oldest + SECOND_MS - this.#clock.now());
  }

  /** Counts a write that begins now. Call it when `waitMs` is 0. */
  begin(): void {
    this.#reserve(0);
  }

  /**
   * Counts a write, and resolves when it may begin: before all that call `waitMs` from now on.
   */
  async next(): Promise<void> {
    const waitMs = this.waitMs();
    this.#reserve(waitMs);
    if (waitMs > 0) await new Promise<void>((resolve) => this.#clock.setTimer(waitMs, resolve));
  }

  #reserve(waitMs: number): void {
    if (this.#perSecond === 0) return;
    this.#times.push(this.#clock.now() + waitMs);
    if (this.#times.length > this.#perSecond) this.#times.shift();
  }
}
