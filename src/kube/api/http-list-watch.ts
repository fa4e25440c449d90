import { unexpectedAnswer } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import type { Transport } from '../http/transport.ts';
import { isKubeObject } from './is-kube-object.ts';
import type { ListPage, ListWatch } from './list-watch.ts';
import type { KubeObject } from './types.ts';
import { watchEvents } from './watch-events.ts';

export interface ResourceSelection {
  /**
   * The collection's path: `/api/v1/configmaps`, or `/api/v1/namespaces/<namespace>/configmaps`.
   */
  readonly path: string;
  /** Label selector; absent: every object. */
  readonly labelSelector?: string;
  /** Field selector, such as `metadata.name=x`; absent: every object. */
  readonly fieldSelector?: string;
  /** Asks only for the metadata of the objects; default false. */
  readonly metadataOnly?: boolean;
}

/**
 * List and watch of one collection, on raw requests. The library's typed API would build models of
 * thousands of objects, with `Date`s and without unknown fields.
 */
export function createListWatch<T extends KubeObject>(
  transport: Transport,
  { path, labelSelector, fieldSelector, metadataOnly = false }: ResourceSelection,
): ListWatch<T> {
  const pathWith = (query: Readonly<Record<string, string | undefined>>) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ labelSelector, fieldSelector, ...query })) {
      if (value) parameters.set(name, value);
    }
    return `${path}?${parameters}`;
  };
  // https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
  const headersFor = (kind: string) => ({
    accept: `${metadataOnly ? `application/json;as=${kind};g=meta.k8s.io;v=v1,` : ''}application/json`,
  });
  return {
    async list({ limit, continue: token }, signal) {
      const body = await transport.call({
        method: 'GET',
        path: pathWith({ limit: String(limit), continue: token }),
        headers: headersFor('PartialObjectMetadataList'),
        signal,
      });
      const page = pageOf<T>(body);
      if (page === undefined) throw unexpectedAnswer(transport.server);
      return page;
    },
    async *watch({ resourceVersion, sendInitialEvents, timeoutSeconds }, signal) {
      const query = {
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(timeoutSeconds),
        resourceVersion,
        // The API server requires both. Without a resourceVersion, the initial events are the most
        // recent state, like the items of a list.
        ...(sendInitialEvents && { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
      };
      const headers = headersFor('PartialObjectMetadata');
      const chunks = await transport.stream({ method: 'GET', path: pathWith(query), headers, signal });
      yield* watchEvents<T>(chunks, transport.server);
    },
  };
}

function pageOf<T extends KubeObject>(body: string): ListPage<T> | undefined {
  const list = parseJsonObject(body);
  const metadata = list?.['metadata'] as { resourceVersion?: unknown; continue?: string } | null | undefined;
  // Go writes a nil slice as null.
  const items = list?.['items'] === null ? [] : list?.['items'];
  if (!Array.isArray(items) || !items.every(isKubeObject)) return undefined;
  if (typeof metadata?.resourceVersion !== 'string') return undefined;
  return {
    items: items as unknown as readonly T[],
    resourceVersion: metadata.resourceVersion,
    bytes: body.length,
    ...(metadata.continue && { continue: metadata.continue }),
  };
}
