import { ApiError, isBadRequest, isGone, isInvalid } from '../kube/errors.ts';

/**
 * What a reflector is doing. `resourceVersion` is the last that the server sent: the store is
 * complete up to it. Before the first list, and after the server's history started over, it is
 * undefined.
 */
export type ReflectorState =
  /**
   * Receives all objects as the first events of a watch (KEP-3157) into a draft of the store. The
   * draft is complete only with the bookmark that ends it, so a failure discards it. A server that
   * refuses, or ignores the request and just watches, is listed in pages from then on.
   */
  | { readonly name: 'streaming'; readonly resourceVersion: string | undefined }
  /**
   * Lists page by page into a draft of the store. A failure, an expired continue token (410)
   * included, discards it.
   */
  | { readonly name: 'paging'; readonly resourceVersion: string | undefined }
  /**
   * Follows the changes after `resourceVersion`. A watch that ends, breaks or falls silent is
   * resumed from there. If the server cannot resume it, everything is listed again by `relist`.
   */
  | { readonly name: 'watching'; readonly resourceVersion: string; readonly relist: 'streaming' | 'paging' };

/** How a state ended, other than by reaching the next one. */
export type Ending =
  /**
   * The server closed the watch in good order. `settled`: it had lived long enough not to be a
   * refusal.
   */
  | { readonly kind: 'closed'; readonly settled: boolean }
  /** Nothing came for too long, and the reflector closed the watch. */
  | { readonly kind: 'silent' }
  /** The server watches, but does not mark the end of the initial events. */
  | { readonly kind: 'unmarked' }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Recovery {
  readonly state: ReflectorState;
  /** Whether to wait first. Every ending that could repeat at once needs it. */
  readonly backoff: boolean;
}

/**
 * The server sent a resourceVersion older than one that it sent before, as it does after its etcd
 * was restored from a backup. What was known of its objects means nothing any more.
 */
export class HistoryRestartedError extends Error {
  override readonly name = 'HistoryRestartedError';

  constructor(sent: string, before: string) {
    super(`the server sent resourceVersion ${sent} after ${before}`);
  }
}

/** What to do after `ending` in `state`: the recovery rules above. */
export function recover(state: ReflectorState, ending: Ending): Recovery {
  const { resourceVersion } = state;
  const relist = state.name === 'watching' ? state.relist : state.name;
  if (ending.kind === 'failed' && isHistoryRestart(ending.error)) {
    return { state: { name: relist, resourceVersion: undefined }, backoff: true };
  }
  switch (state.name) {
    case 'streaming':
      // A reflector leaves streaming for good only once, so that needs no backoff.
      if (ending.kind !== 'failed' || isRefusal(ending.error)) {
        return { state: { name: 'paging', resourceVersion }, backoff: false };
      }
      return { state, backoff: true };
    case 'paging':
      return { state, backoff: true };
    case 'watching':
      if (ending.kind !== 'failed') return { state, backoff: ending.kind === 'closed' && !ending.settled };
      return {
        state: isGone(ending.error) || isRefusal(ending.error) ? { name: relist, resourceVersion } : state,
        backoff: true,
      };
  }
}

/** Also true of a refusal: `Too large resource version`, a 504 with this cause. */
export function isHistoryRestart(error: unknown): boolean {
  if (error instanceof HistoryRestartedError) return true;
  return (
    error instanceof ApiError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}

/**
 * The server refuses what it was asked for: to stream a list (422 if it knows the parameter and has
 * it switched off, 400 from others), or a resourceVersion that means nothing to it.
 */
function isRefusal(error: unknown): boolean {
  return isInvalid(error) || isBadRequest(error);
}
