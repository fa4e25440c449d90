/** How the delay before the next attempt grows with the attempts that failed. */
export interface BackoffOptions {
  /** Delay (ms) after the first failure, above 0. */
  readonly baseMs: number;
  /** Longest delay (ms), jitter included. */
  readonly capMs: number;
  /**
   * Random part of the delay: 0 is none, 0.5 spreads it over [0.5, 1] times the exponential delay.
   */
  readonly jitter: number;
}

/**
 * Exponential backoff: `min(cap, base * 2^(failures - 1))`, shortened by a random part of at most
 * `jitter`. `random` returns a number in [0, 1).
 */
export function backoffDelay(failures: number, options: BackoffOptions, random: () => number): number {
  const exponential = Math.min(options.capMs, options.baseMs * 2 ** Math.max(0, failures - 1));
  return exponential * (1 - options.jitter * random());
}
