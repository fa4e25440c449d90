/** The verbs that only read: get, list and watch. */
import type { KubeObject } from '../objects/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Registry } from '../storage/registry.ts';
import { type ListOptions, parseListOptions } from './list-options.ts';
import { type ResourcePath, targetOf } from './resource-path.ts';
import { parseReadRevision, snapshotFor, tokenAfter, tooLargeRevision } from './revisions.ts';
import { serveWatch, type WatchLines, type WatchStream } from './watch.ts';

export interface ReadDeps {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly random: () => number;
  readonly bookmarkIntervalMs: number;
}

/** Shortest duration (ms) of a watch without `timeoutSeconds`; it lasts up to twice as long. */
const MIN_WATCH_MS = 30 * 60 * 1000;

/** Longest delay (ms) that Node's timers accept. */
const MAX_WATCH_MS = 2 ** 31 - 1;

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** A page of objects, in stored form. */
export interface Selected {
  readonly objects: readonly KubeObject[];
  readonly meta: ListMeta;
}

export class Reads {
  readonly #deps: ReadDeps;

  constructor(deps: ReadDeps) {
    this.#deps = deps;
  }

  get(path: ResourcePath, query: URLSearchParams): KubeObject {
    const { store, registry } = this.#deps;
    const version = query.get('resourceVersion') ?? '';
    const revision = version === '' ? 0 : parseReadRevision(version);
    if (revision > store.revision) throw tooLargeRevision(revision, store);
    return registry.get(targetOf(path));
  }

  /** The page that a list or a deletecollection asks for. */
  list(path: ResourcePath, query: URLSearchParams): Selected {
    const { store, registry } = this.#deps;
    const options = parseListOptions(path.kind, query, path);
    const { selection } = options;
    const snapshot = snapshotFor(store, registry.collection(path.kind), options);
    const matching = snapshot.objects.filter((object) => selection.matches(object));
    const resourceVersion = String(snapshot.revision);
    const limit = pageLimit(options);
    const last = matching[limit - 1];
    if (limit <= 0 || matching.length <= limit || !last) {
      return { objects: matching, meta: { resourceVersion } };
    }
    return {
      objects: matching.slice(0, limit),
      meta: {
        resourceVersion,
        continue: tokenAfter(snapshot.revision, last),
        // With a selector, a real server does not know how many of the unread objects match.
        ...(selection.everything ? { remainingItemCount: matching.length - limit } : {}),
      },
    };
  }

  /**
   * Resolves when the watch is over. `open` begins the answer once nothing can refuse it any more.
   */
  async watch(
    path: ResourcePath,
    query: URLSearchParams,
    lines: WatchLines,
    open: (timeoutMs: number) => WatchStream,
  ): Promise<void> {
    const { registry, random } = this.#deps;
    const options = parseListOptions(path.kind, query, path);
    const timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : MIN_WATCH_MS * (1 + random());
    const deps = { ...this.#deps, collection: registry.collection(path.kind) };
    await serveWatch(deps, lines, options, () => open(Math.min(timeoutMs, MAX_WATCH_MS)));
  }
}

/** At version 0 a real server answers from its cache, which does not cut lists into pages. */
const pageLimit = (options: ListOptions): number =>
  options.resourceVersion === '0' && options.continue === '' ? 0 : options.limit;
