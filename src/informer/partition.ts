import type { Clock } from '../clock/clock.ts';
import { TurnBudget } from '../clock/turn-budget.ts';
import type { WatchEvent } from '../kube/api/list-watch.ts';
import { keyOf } from '../kube/api/object-key.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { HandlerSet } from './handler.ts';
import { requireNotOlder } from './history.ts';
import { IndexedMap } from './indexed-map.ts';
import type { Indexers, Stored } from './lister.ts';

export interface PartitionDeps<T extends KubeObject, S extends Stored, I extends string> {
  /** See `InformerOptions`. Also called for lists that are discarded. */
  readonly transform: (object: T) => S;
  readonly indexers: Indexers<S, I>;
  readonly handlers: HandlerSet<S>;
  readonly clock: Clock;
}

/**
 * The part of a store that one list and watch feed. Calls the handlers for every change. Only one
 * owner writes to it: the reflector.
 */
export class Partition<T extends KubeObject, S extends Stored, I extends string> {
  readonly #deps: PartitionDeps<T, S, I>;
  readonly #turns: TurnBudget;
  /** What readers see. */
  items: IndexedMap<S, I>;
  /**
   * The last that the server sent: the items are complete up to it. Undefined before the first
   * list, and after the server's history started over.
   */
  resourceVersion: string | undefined;
  /** Whether a list has been complete, and the handlers have been called for it. Stays true. */
  hasListed = false;

  constructor(deps: PartitionDeps<T, S, I>) {
    this.#deps = deps;
    this.#turns = new TurnBudget(deps.clock);
    this.items = this.draft();
  }

  /** An empty map, to be filled while no reader sees it. */
  draft(): IndexedMap<S, I> {
    return new IndexedMap(this.#deps.indexers);
  }

  /** Fills a draft with the objects of a list. Bookmarks do not count. */
  async fill(draft: IndexedMap<S, I>, events: readonly WatchEvent<T>[], signal: AbortSignal): Promise<void> {
    const put = (event: WatchEvent<T>) => {
      if (event.type === 'DELETED') draft.delete(keyOf(event.object));
      else if (event.type !== 'BOOKMARK') draft.set(this.#convert(event.object));
    };
    await this.#turns.each(events, put, signal);
  }

  /** Puts a complete list in place of what was held, and calls the handlers for the difference. */
  async replace(draft: IndexedMap<S, I>, resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { handlers } = this.#deps;
    requireNotOlder(resourceVersion, this.resourceVersion);
    const old = this.items;
    this.items = draft;
    if (this.hasListed && this.resourceVersion === undefined) handlers.historyRestarted();
    const report = (item: S) => handlers.changed(old.get(item.key), item, false);
    await this.#turns.each(draft.values(), report, signal);
    const reportIfGone = (item: S) => {
      if (draft.get(item.key) === undefined) handlers.changed(item, undefined, true);
    };
    await this.#turns.each(old.values(), reportIfGone, signal);
    this.hasListed = true;
    this.resourceVersion = resourceVersion;
  }

  /** Applies what a watch brought. */
  async apply(events: readonly WatchEvent<T>[], signal: AbortSignal): Promise<void> {
    await this.#turns.each(events, (event) => this.#applyOne(event), signal);
  }

  #applyOne(event: WatchEvent<T>): void {
    const { handlers } = this.#deps;
    const { resourceVersion } = event.type === 'BOOKMARK' ? event : event.object.metadata;
    requireNotOlder(resourceVersion, this.resourceVersion);
    if (event.type === 'DELETED') {
      handlers.changed(this.items.delete(keyOf(event.object)), undefined, false);
    } else if (event.type !== 'BOOKMARK') {
      const item = this.#convert(event.object);
      handlers.changed(this.items.set(item), item, false);
    }
    this.resourceVersion = resourceVersion;
  }

  /**
   * What the store keeps of an object: the same item as before if the version is the same in the
   * same history.
   */
  #convert(object: T): S {
    const { uid, resourceVersion } = object.metadata;
    const before = this.resourceVersion === undefined ? undefined : this.items.get(keyOf(object));
    if (before?.uid === uid && before.resourceVersion === resourceVersion) return before;
    return deepFreeze(this.#deps.transform(object));
  }
}
