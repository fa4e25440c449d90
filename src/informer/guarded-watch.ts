import type { Clock } from '../clock/clock.ts';
import type { ListWatch, WatchEvent, WatchOptions } from '../kube/list-watch.ts';
import type { KubeObject } from '../kube/types.ts';

/** Nothing at all came over a watch for too long: quiet servers send bookmarks, so the connection may be dead. */
export class SilentWatchError extends Error {
  override readonly name = 'SilentWatchError';

  constructor(silentMs: number) {
    super(`nothing came over the watch for ${silentMs / 1_000} s`);
  }
}

/**
 * The batches of a watch. Closes it and throws `SilentWatchError` when nothing came for `silenceMs()`, asked
 * anew for each wait; time that the consumer takes over a batch is not silence. Closed by `signal` too.
 */
export async function* guardedWatch<T extends KubeObject>(
  listWatch: ListWatch<T>,
  options: WatchOptions,
  guard: { readonly clock: Clock; readonly silenceMs: () => number; readonly signal: AbortSignal },
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const connection = new AbortController();
  const close = () => connection.abort();
  let silence: SilentWatchError | undefined;
  const waitForMore = () => {
    const silenceMs = guard.silenceMs();
    return guard.clock.setTimer(silenceMs, () => {
      silence = new SilentWatchError(silenceMs);
      close();
    });
  };
  // Not AbortSignal.any: on Node 20 each one stays in memory for as long as the signal of the whole run does.
  guard.signal.addEventListener('abort', close, { once: true });
  let timer = waitForMore();
  try {
    for await (const batch of listWatch.watch(options, connection.signal)) {
      timer.cancel();
      yield batch;
      timer = waitForMore();
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
