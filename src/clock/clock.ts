/** A timer that has not fired yet. */
export interface Timer {
  /** The callback does not run after this. Idempotent. */
  cancel(): void;
}

/**
 * Time as a parameter. Measure durations and expiry with the monotonic `now`, which clock
 * adjustments do not move. The wall time is for what is stored or shown.
 */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin. */
  now(): number;
  /** The time of day. */
  wallTime(): Date;
  /**
   * Calls `callback` once, after at least `delayMs`, or after about 25 days if that is shorter. A
   * delay of 0 or less still waits for a later turn of the event loop.
   */
  setTimer(delayMs: number, callback: () => void): Timer;
}

/** Longest delay (ms) of `setTimeout`, which fires at once if given more. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * The real clock of this process. Its timers keep the process alive until they fire or are
 * cancelled.
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => new Date(),
  setTimer: (delayMs, callback) => {
    const handle = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  },
};

/**
 * Resolves after `delayMs`, or as soon as `signal` aborts: check the signal. Infinity needs no
 * timer.
 */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || delayMs === Number.POSITIVE_INFINITY) return aborted(signal);
  return new Promise((resolve) => {
    const wake = () => {
      timer.cancel();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = clock.setTimer(delayMs, wake);
    signal.addEventListener('abort', wake, { once: true });
  });
}

/** Resolves when `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Calls `work` after each `intervalMs` until `signal` aborts. Rejects with what `work` throws. */
export async function every(
  clock: Clock,
  intervalMs: number,
  signal: AbortSignal,
  work: () => void,
): Promise<void> {
  for (;;) {
    await sleep(clock, intervalMs, signal);
    if (signal.aborted) return;
    work();
  }
}
