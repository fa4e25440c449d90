import type { ListPage, WatchEvent } from '../../src/kube/api/list-watch.ts';
import { keyOf, type ObjectKey, objectKey } from '../../src/kube/api/object-key.ts';
import type { KubeObject } from '../../src/kube/api/types.ts';
import { ApiError, NetworkError } from '../../src/kube/errors.ts';

/** The kind of object that these tests watch, for nothing in an informer is about ConfigMaps. */
export interface Widget extends KubeObject {
  readonly colour: string;
}

export interface StoredWidget {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly colours: readonly string[];
}

export const storeWidget = (raw: Widget): StoredWidget => ({
  key: keyOf(raw),
  uid: raw.metadata.uid,
  resourceVersion: raw.metadata.resourceVersion,
  colours: [raw.colour],
});

export const byColour = { colour: (item: StoredWidget) => item.colours };

/** `default/<name>` at a resourceVersion; its uid is `uid-<name>` unless given. */
export function widget(
  name: string,
  version: number,
  more: { uid?: string; namespace?: string; colour?: string } = {},
): Widget {
  return {
    metadata: {
      namespace: more.namespace ?? 'default',
      name,
      uid: more.uid ?? `uid-${name}`,
      resourceVersion: String(version),
    },
    colour: more.colour ?? 'red',
  };
}

export const keyed = (name: string, namespace = 'default'): ObjectKey => objectKey(namespace, name);

export const added = (object: Widget): WatchEvent<Widget> => ({ type: 'ADDED', object });
export const modified = (object: Widget): WatchEvent<Widget> => ({ type: 'MODIFIED', object });
export const deleted = (object: Widget): WatchEvent<Widget> => ({ type: 'DELETED', object });
export const bookmark = (version: number): WatchEvent<Widget> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd: false,
});
export const initialEventsEnd = (version: number): WatchEvent<Widget> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd: true,
});

export const page = (version: number, items: readonly Widget[], next?: string): ListPage<Widget> => ({
  items,
  resourceVersion: String(version),
  bytes: 100 * items.length,
  ...(next === undefined ? {} : { continue: next }),
});

export const apiError = (status: number, reason: string, retryAfterMs?: number): ApiError =>
  new ApiError(`the server said ${reason}`, { status, reason, retryAfterMs });
export const expired = apiError(410, 'Expired');
export const refused = apiError(422, 'Invalid');
export const reset = new NetworkError('read ECONNRESET', { code: 'ECONNRESET' });
export const malformed = new NetworkError('a line of the watch is not JSON', { code: 'MALFORMED' });
