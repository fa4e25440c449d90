import type { KubeObject } from './types.ts';

/** One line of a watch, except an ERROR line: that is thrown as `ApiError`. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** The bookmark ends the initial events (annotation `k8s.io/initial-events-end`). */
      readonly initialEventsEnd: boolean;
    };

export interface ListPage<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Approximate size of the page on the wire; 0: small. */
  readonly bytes: number;
  /** Token of the next page; absent on the last. */
  readonly continue?: string;
}

export interface ListOptions {
  /** Most objects in one page. */
  readonly limit: number;
  readonly continue?: string;
}

export interface WatchOptions {
  /** Where to resume; absent together with `sendInitialEvents` for a streaming list. */
  readonly resourceVersion?: string | undefined;
  /** Asks for the present state first, as ADDED events that end with a bookmark (KEP-3157). */
  readonly sendInitialEvents: boolean;
  /** The server ends the watch after this time. */
  readonly timeoutSeconds: number;
}

/**
 * The two requests of a reflector, for one kind and one selector. Both reject with `ApiError` or
 * `NetworkError`, and end soon after `signal` aborts.
 */
export interface ListWatch<T extends KubeObject> {
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * Events in order, in the batches in which they arrive; a batch is never empty. Ends when the
   * server ends the watch, throws when the connection breaks. Leaving the loop closes the request.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}
