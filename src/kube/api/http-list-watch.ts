import { unexpectedAnswer } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import type { Transport } from '../http/transport.ts';
import type { ListOptions, ListPage, ListWatch, WatchEvent, WatchOptions } from './list-watch.ts';
import type { KubeObject } from './types.ts';
import { watchEvents } from './watch-events.ts';

export interface ResourceSelection {
  /**
   * The collection's path: `/api/v1/configmaps`, or `/api/v1/namespaces/<namespace>/configmaps`.
   */
  readonly path: string;
  /** Label selector; absent: every object. */
  readonly labelSelector?: string;
  /** Asks only for the metadata of the objects; default false. */
  readonly metadataOnly?: boolean;
}

/**
 * List and watch of one collection, on raw requests. The library's typed API would build models of
 * thousands of objects, with `Date`s and without unknown fields.
 */
export function createListWatch<T extends KubeObject>(
  transport: Transport,
  selection: ResourceSelection,
): ListWatch<T> {
  return {
    list: (options, signal) => list<T>(transport, selection, options, signal),
    watch: (options, signal) => watch<T>(transport, selection, options, signal),
  };
}

async function list<T extends KubeObject>(
  transport: Transport,
  selection: ResourceSelection,
  options: ListOptions,
  signal: AbortSignal,
): Promise<ListPage<T>> {
  const path = pathOf(selection, { limit: String(options.limit), continue: options.continue });
  const headers = acceptOf(selection, 'PartialObjectMetadataList');
  const { body } = await transport.call({ method: 'GET', path, headers, signal });
  const page = parseList<T>(body);
  if (page === undefined) throw unexpectedAnswer(transport.server);
  return page;
}

async function* watch<T extends KubeObject>(
  transport: Transport,
  selection: ResourceSelection,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<T>[], void, undefined> {
  const path = pathOf(selection, {
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(options.timeoutSeconds),
    resourceVersion: options.resourceVersion,
    // The API server requires both. Without a resourceVersion, the initial events are the most
    // recent state, like the items of a list.
    ...(options.sendInitialEvents && { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }),
  });
  const headers = acceptOf(selection, 'PartialObjectMetadata');
  const chunks = await transport.stream({ method: 'GET', path, headers, signal });
  yield* watchEvents<T>(chunks, transport.server);
}

function pathOf(selection: ResourceSelection, query: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  const all = { labelSelector: selection.labelSelector, ...query };
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  return `${selection.path}?${parameters}`;
}

/** https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches */
function acceptOf(selection: ResourceSelection, as: string): Record<string, string> {
  const metadata = `application/json;as=${as};g=meta.k8s.io;v=v1`;
  return { accept: selection.metadataOnly ? `${metadata},application/json` : 'application/json' };
}

function parseList<T extends KubeObject>(body: string): ListPage<T> | undefined {
  const list = parseJsonObject(body);
  const metadata = list?.['metadata'] as { resourceVersion?: unknown; continue?: string } | null | undefined;
  // Go writes a nil slice as null.
  const items = list?.['items'] === null ? [] : list?.['items'];
  if (!Array.isArray(items) || typeof metadata?.resourceVersion !== 'string') return undefined;
  return {
    items,
    resourceVersion: metadata.resourceVersion,
    bytes: body.length,
    ...(metadata.continue && { continue: metadata.continue }),
  };
}
