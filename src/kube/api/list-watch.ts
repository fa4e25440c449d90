import type { KubeObject } from './types.ts';

/** One line of a watch. An ERROR line is not among them: it is thrown as `ApiError`. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      /** True on the bookmark that ends the initial events (annotation `k8s.io/initial-events-end`). */
      readonly initialEventsEnd: boolean;
    };

export interface ListPage<T extends KubeObject> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Length of the page as it came, about; 0: small. */
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
  readonly resourceVersion?: string;
  /** Ask for the present state first, as ADDED events ended by a bookmark (KEP-3157). */
  readonly sendInitialEvents: boolean;
  /** The server ends the watch after this. */
  readonly timeoutSeconds: number;
}

/**
 * The two calls that a reflector makes, for one kind and one selector. Both reject with `ApiError` or
 * `NetworkError` and end soon after `signal` aborts.
 */
export interface ListWatch<T extends KubeObject> {
  list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>>;
  /**
   * Events in order, in batches as they arrive (what one network chunk held, never empty). Ends when the
   * server ends the watch; throws when it breaks. Leaving the loop closes the request.
   */
  watch(options: WatchOptions, signal: AbortSignal): AsyncIterable<readonly WatchEvent<T>[]>;
}
