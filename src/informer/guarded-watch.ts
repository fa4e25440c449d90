import type { Clock } from '../clock/clock.ts';
import type { ListWatch, WatchEvent, WatchOptions } from '../kube/api/list-watch.ts';
import type { KubeObject } from '../kube/api/types.ts';

/**
 * Nothing came over a watch for too long. Even a quiet server sends bookmarks, so the connection
 * may be dead.
 */
export class SilentWatchError extends Error {
  override readonly name = 'SilentWatchError';

  constructor(silentMs: number) {
    super(`nothing came over the watch for ${silentMs / 1_000} s`);
  }
}

/**
 * Yields the batches of a watch. Closes it and throws `SilentWatchError` if nothing comes for
 * `silenceMs()`, which may grow while the watch is open. The time that the consumer takes for a
 * batch is not silence. `signal` closes it too.
 */
export async function* guardedWatch<T extends KubeObject>(
  listWatch: ListWatch<T>,
  options: WatchOptions,
  guard: { readonly clock: Clock; readonly silenceMs: () => number; readonly signal: AbortSignal },
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const connection = new AbortController();
  const close = () => connection.abort();
  let silence: SilentWatchError | undefined;
  /** Undefined while the consumer handles a batch. */
  let waitingSince: number | undefined = guard.clock.now();
  // One timer, set again if it fires too early, and not one for each batch: a thousand may come in
  // a second.
  const look = () => {
    const { clock } = guard;
    const silenceMs = guard.silenceMs();
    const silentMs = waitingSince === undefined ? 0 : clock.now() - waitingSince;
    if (silentMs < silenceMs) {
      timer = clock.setTimer(silenceMs - silentMs, look);
      return;
    }
    silence = new SilentWatchError(silenceMs);
    close();
  };
  // On Node 20, each AbortSignal.any stays in memory as long as the signal of the whole run.
  guard.signal.addEventListener('abort', close, { once: true });
  let timer = guard.clock.setTimer(guard.silenceMs(), look);
  try {
    for await (const batch of listWatch.watch(options, connection.signal)) {
      waitingSince = undefined;
      yield batch;
      waitingSince = guard.clock.now();
    }
  } catch (error) {
    throw silence ?? error;
  } finally {
    timer.cancel();
    guard.signal.removeEventListener('abort', close);
    close();
  }
  if (silence !== undefined) throw silence;
}
