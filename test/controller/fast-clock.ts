import type { Clock } from '../../src/clock/clock.ts';

/**
 * A clock that runs `times` as fast as the server's, for rules about half a minute. Answers take
 * longer on it: with a time limit of 30 s and `times` 20 the server has 1.5 s.
 */
export function fastClock(times: number): Clock {
  const start = Date.now();
  return {
    now: () => performance.now() * times,
    wallTime: () => new Date(start + (Date.now() - start) * times),
    setTimer: (delayMs, callback) => {
      const handle = setTimeout(callback, delayMs / times);
      return { cancel: () => clearTimeout(handle) };
    },
  };
}

/** A clock whose monotonic time can stand still. Its timers fire all the same, maybe in vain. */
export class PausableClock implements Clock {
  readonly #clock: Clock;
  #pausedAt: number | undefined;
  #pausedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return (this.#pausedAt ?? this.#clock.now()) - this.#pausedMs;
  }

  wallTime(): Date {
    return this.#clock.wallTime();
  }

  setTimer(...parameters: Parameters<Clock['setTimer']>) {
    return this.#clock.setTimer(...parameters);
  }

  pause(): void {
    this.#pausedAt ??= this.#clock.now();
  }

  resume(): void {
    if (this.#pausedAt !== undefined) this.#pausedMs += this.#clock.now() - this.#pausedAt;
    this.#pausedAt = undefined;
  }
}
