/** How long to wait before the next try, as a function of the tries that failed. */
export interface BackoffOptions {
  /** Delay after the first failure, milliseconds, above 0. */
  readonly baseMs: number;
  /** No delay is longer than this, jitter included, milliseconds. */
  readonly capMs: number;
  /** Part of the delay that is random: 0 is none, 0.5 spreads it over [0.5, 1] times the exponential delay. */
  readonly jitter: number;
}

/**
 * Exponential backoff: `min(cap, base * 2^(failures - 1))`, of which the last `jitter` part is random.
 * Jitter only shortens, so that the cap holds. `random` returns a number in [0, 1).
 */
export function backoffDelay(failures: number, options: BackoffOptions, random: () => number): number {
  const exponential = Math.min(options.capMs, options.baseMs * 2 ** Math.max(0, failures - 1));
  return exponential * (1 - options.jitter * random());
}
