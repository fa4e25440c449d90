import type { Clock } from './clock.ts';

/** Calls `work` with a signal that aborts after `limitMs`, or as soon as `signal` does. */
export async function withinLimit<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const abort = () => limit.abort();
  const timer = clock.setTimer(limitMs, abort);
  // Not AbortSignal.any, which leaks on Node 20 (nodejs/node#54614).
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await work(limit.signal);
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  }
}
