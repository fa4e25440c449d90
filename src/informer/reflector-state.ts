import { ApiError, isBadRequest, isGone, isInvalid } from '../kube/errors.ts';

/** Where a reflector is. Each state says what a failure in it leads to. */
export type ReflectorState =
  /**
   * Receives all objects as the first events of a watch (KEP-3157) into a draft of the store. The draft's
   * resourceVersion is worth nothing before the bookmark that ends it, so a failure throws it away and
   * starts anew. A server that refuses, or ignores the request and just watches, is listed in pages
   * from then on.
   */
  | { readonly name: 'streaming' }
  /**
   * Lists page by page into a draft of the store. A failure, an expired continue token (410) included,
   * throws the draft away and starts from the first page.
   */
  | { readonly name: 'paging' }
  /**
   * The store is complete up to `resourceVersion`. A watch that ends, breaks or falls silent is opened
   * again from there; when the server can no longer (or cannot at all) resume from it, everything is
   * listed again by `relist`.
   */
  | { readonly name: 'watching'; readonly resourceVersion: string; readonly relist: 'streaming' | 'paging' };

/** How a state came to its end, other than by reaching the next one. */
export type Ending =
  /** The server closed the watch in good order. `settled`: it had lived long enough not to be a refusal. */
  | { readonly kind: 'closed'; readonly settled: boolean }
  /** Nothing came for too long, and we closed the watch. */
  | { readonly kind: 'silent' }
  /** The server watches, but does not mark the end of the initial events. */
  | { readonly kind: 'unmarked' }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface Recovery {
  readonly state: ReflectorState;
  /** Whether to wait before it: any ending that could follow at once on the next try must. */
  readonly backoff: boolean;
}

/** What to do after `ending` in `state`: the recovery rules above. */
export function recover(state: ReflectorState, ending: Ending): Recovery {
  switch (state.name) {
    case 'streaming':
      // Each way out of streaming for good is taken once in a reflector's life, so it needs no backoff.
      if (ending.kind !== 'failed' || isRefusal(ending.error)) {
        return { state: { name: 'paging' }, backoff: false };
      }
      return { state, backoff: true };
    case 'paging':
      return { state, backoff: true };
    case 'watching':
      if (ending.kind === 'failed') {
        return { state: canResume(ending.error) ? state : { name: state.relist }, backoff: true };
      }
      return { state, backoff: ending.kind === 'closed' && !ending.settled };
  }
}

/** 422 from servers that know the parameter and have it switched off or cannot parse its company, 400 from others. */
function isRefusal(error: unknown): boolean {
  return isInvalid(error) || isBadRequest(error);
}

/**
 * Not after 410, nor where the server calls the resourceVersion itself bad: nonsense to it (400, 422), or
 * from its future, as after an etcd restored from a backup (504 with this cause).
 */
function canResume(error: unknown): boolean {
  if (isGone(error) || isRefusal(error)) return false;
  return !(
    error instanceof ApiError && error.causes.some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}
