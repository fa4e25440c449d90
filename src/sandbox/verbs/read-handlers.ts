/** The verbs that only look: get, list and watch. */
import { formOf } from '../http/answer-form.ts';
import type { Exchange } from '../http/http-exchange.ts';
import type { ListMeta, Renderer } from '../http/render.ts';
import type { ResourcePath } from '../http/request-info.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type Registry, targetOf } from '../storage/registry.ts';
import { type ListOptions, parseListOptions } from './list-options.ts';
import { parseReadRevision, snapshotFor, tokenAfter, tooLargeRevision } from './revisions.ts';
import { serveWatch } from './watch.ts';

export interface ReadDeps {
  readonly store: ObjectStore;
  readonly registry: Registry;
  readonly renderer: Renderer;
  readonly random: () => number;
  readonly bookmarkIntervalMs: number;
  /** Ends watches. */
  readonly stop: AbortSignal;
}

/** A watch without `timeoutSeconds` lasts between this and twice as long, as the real server's default. */
const MIN_WATCH_MS = 30 * 60 * 1000;

/** Node's timers take no more. */
const MAX_WATCH_MS = 2 ** 31 - 1;

export interface Selected {
  readonly objects: readonly KubeObject[];
  readonly meta: ListMeta;
}

export class ReadHandlers {
  readonly #deps: ReadDeps;

  constructor(deps: ReadDeps) {
    this.#deps = deps;
  }

  get(exchange: Exchange, path: ResourcePath): void {
    const { store, registry, renderer } = this.#deps;
    const form = formOf(exchange, path.kind);
    const version = exchange.query.get('resourceVersion') ?? '';
    const revision = version === '' ? 0 : parseReadRevision(version);
    if (revision > store.revision) throw tooLargeRevision(revision, store);
    exchange.answer(200, renderer.object(form, registry.get(targetOf(path))));
  }

  list(exchange: Exchange, path: ResourcePath): void {
    const form = formOf(exchange, path.kind);
    const { objects, meta } = this.select(path, parseListOptions(path.kind, exchange.query, path));
    exchange.answer(200, this.#deps.renderer.list(form, objects, meta));
  }

  /** The page of objects that a list, or a deletion of a collection, is about. */
  select({ kind }: ResourcePath, options: ListOptions): Selected {
    const { store, registry } = this.#deps;
    const { selection } = options;
    const snapshot = snapshotFor(store, registry.collection(kind), options);
    const matching = snapshot.objects.filter((object) => selection.matches(object));
    const resourceVersion = String(snapshot.revision);
    // At version 0 a real server answers from its cache, which does not cut lists into pages.
    const limit = options.resourceVersion === '0' && options.continue === '' ? 0 : options.limit;
    const last = matching[limit - 1];
    if (limit <= 0 || matching.length <= limit || !last) {
      return { objects: matching, meta: { resourceVersion } };
    }
    return {
      objects: matching.slice(0, limit),
      meta: {
        resourceVersion,
        continue: tokenAfter(snapshot.revision, last),
        // With a selector a real server does not know how many of what it has not read would match.
        ...(selection.everything ? { remainingItemCount: matching.length - limit } : {}),
      },
    };
  }

  async watch(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { registry, random, stop } = this.#deps;
    const form = formOf(exchange, path.kind);
    const options = parseListOptions(path.kind, exchange.query, path);
    const timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : MIN_WATCH_MS * (1 + random());
    const deps = { ...this.#deps, collection: registry.collection(path.kind) };
    await serveWatch(deps, form, options, () => exchange.stream(Math.min(timeoutMs, MAX_WATCH_MS), stop));
    exchange.end();
  }
}
