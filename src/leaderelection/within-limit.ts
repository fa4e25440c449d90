import type { Clock } from '../clock/clock.ts';

/** Calls `work` with a signal that aborts after `limitMs`, or as soon as `signal` does. */
export async function withinLimit(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (limited: AbortSignal) => Promise<void>,
): Promise<void> {
  const limit = new AbortController();
  const abort = () => limit.abort();
  const timer = clock.setTimer(limitMs, abort);
  // Not AbortSignal.any, which leaks on Node 20 (nodejs/node#54614).
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await work(limit.signal);
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  }
}
