/** A timer that has not fired yet. */
export interface Timer {
  /** Idempotent; after it the callback never runs. */
  cancel(): void;
}

/**
 * Time as a parameter. Durations and expiry are measured on the monotonic reading, which no
 * clock adjustment moves; the wall clock serves only what is stored or shown.
 */
export interface Clock {
  /** Monotonic milliseconds from an arbitrary origin. */
  now(): number;
  /** The time of day. */
  wallTime(): Date;
  /**
   * Calls `callback` once, after at least `delayMs`, but for one of more than 2^31 - 1, some 25 days, which is cut to that; a
   * delay of 0 or less still waits for a later turn.
   */
  setTimer(delayMs: number, callback: () => void): Timer;
}

/** `setTimeout` fires at once when asked to wait longer than this. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** The real clock of this process. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallTime: () => new Date(),
  setTimer: (delayMs, callback) => {
    const handle = setTimeout(callback, Math.min(delayMs, LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts: callers look at the signal, not at an exception. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
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

/** Calls `work` every `intervalMs`, first when one has passed, until `signal` aborts; rejects with what `work` throws. */
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
