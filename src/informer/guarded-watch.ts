import type { Clock } from '../clock/clock.ts';
import type { ListWatch, WatchEvent, WatchOptions } from '../kube/api/list-watch.ts';
import type { KubeObject } from '../kube/api/types.ts';

/** Silence (ms) that ends a watch. A kube-apiserver sends a bookmark every 60 s. */
const SILENCE_MS = 90_000;

/** A watch has been silent for so long that its connection may be dead. */
export class SilentWatchError extends Error {
  override readonly name = 'SilentWatchError';
  override readonly message = `nothing came over the watch for ${SILENCE_MS / 1_000} s`;
}

/**
 * Yields the batches of a watch. Closes it and throws `SilentWatchError` if nothing comes for 90 s.
 * The time that the consumer takes for a batch is not silence. `signal` closes it too.
 */
export async function* guardedWatch<T extends KubeObject>(
  listWatch: ListWatch<T>,
  options: WatchOptions,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const connection = new AbortController();
  const close = () => connection.abort();
  let isSilent = false;
  /** Undefined while the consumer handles a batch. */
  let waitingSince: number | undefined = clock.now();
  // A thousand batches may come in a second. So no batch resets the timer: it is set again if it
  // fires too early.
  const look = () => {
    const silentMs = waitingSince === undefined ? 0 : clock.now() - waitingSince;
    isSilent = silentMs >= SILENCE_MS;
    if (isSilent) close();
    else timer = clock.setTimer(SILENCE_MS - silentMs, look);
  };
  // On Node 20, each AbortSignal.any stays in memory as long as the signal of the whole run.
  signal.addEventListener('abort', close, { once: true });
  if (signal.aborted) close();
  let timer = clock.setTimer(SILENCE_MS, look);
  try {
    for await (const batch of listWatch.watch(options, connection.signal)) {
      waitingSince = undefined;
      yield batch;
      waitingSince = clock.now();
    }
  } catch (error) {
    if (!isSilent) throw error;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', close);
    close();
  }
  if (isSilent) throw new SilentWatchError();
}
