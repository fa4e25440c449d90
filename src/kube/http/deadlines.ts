import type { Clock, Timer } from '../../clock/clock.ts';

/** The time limit of many requests, the same for all, on one timer: one for each is 2 % of our processor time in a burst. */
export class Deadlines {
  /** Milliseconds. */
  readonly limitMs: number;
  readonly #clock: Clock;
  /** When each is over, on the clock's reading: the oldest first. */
  readonly #ends = new Map<() => void, number>();
  #timer: Timer | undefined;

  constructor(clock: Clock, limitMs: number) {
    this.#clock = clock;
    this.limitMs = limitMs;
  }

  /** Calls `onOver` when the limit is over, unless what this returns is called before. Each `onOver` is a function of its own. */
  begin(onOver: () => void): () => void {
    this.#ends.set(onOver, this.#clock.now() + this.limitMs);
    this.#timer ??= this.#clock.setTimer(this.limitMs, this.#look);
    return () => this.#takeBack(onOver);
  }

  #takeBack(onOver: () => void): void {
    this.#ends.delete(onOver);
    if (this.#ends.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    for (const [onOver, end] of this.#ends) {
      const remainingMs = end - this.#clock.now();
      if (remainingMs > 0) {
        this.#timer = this.#clock.setTimer(remainingMs, this.#look);
        return;
      }
      this.#ends.delete(onOver);
      onOver();
    }
  };
}
