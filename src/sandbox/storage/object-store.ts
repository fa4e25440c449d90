/**
 * The objects by collection, in place of etcd. One counter gives every write in any collection its
 * revision, the object's resourceVersion. Objects are immutable. The rules of the API are in the
 * registry.
 */

import { byCodeUnit } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import { EventLog } from './event-log.ts';

export interface StoreOptions {
  /** Number of changes that each collection remembers for watches and older pages. */
  readonly historyLimit: number;
}

/** `namespace/name`, or `/name` for cluster-scoped objects. The order of keys is etcd's. */
export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;
export const keyOfObject = (object: KubeObject): string =>
  keyOf(object.metadata.namespace, object.metadata.name);

export class ObjectStore {
  readonly #options: StoreOptions;
  readonly #collections = new Map<string, Collection>();
  #revision = 1;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** Revision of the last write to any collection. */
  get revision(): number {
    return this.#revision;
  }

  collection(name: string): Collection {
    const existing = this.#collections.get(name);
    if (existing) return existing;
    const created = new Collection(this.#options.historyLimit, () => ++this.#revision);
    this.#collections.set(name, created);
    return created;
  }

  collections(): Iterable<Collection> {
    return this.#collections.values();
  }

  /** Forgets all history. It takes a revision of its own, so that every earlier one is too old. */
  compact(): void {
    this.#revision += 1;
    for (const collection of this.#collections.values()) collection.log.compact(this.#revision);
  }
}

export class Collection {
  readonly log: EventLog;
  readonly #nextRevision: () => number;
  readonly #objects = new Map<string, KubeObject>();
  /** All keys, sorted. */
  readonly #keys: string[] = [];

  constructor(historyLimit: number, nextRevision: () => number) {
    this.log = new EventLog(historyLimit);
    this.#nextRevision = nextRevision;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  /** Stores and returns `object` with a new resourceVersion. */
  put(object: KubeObject): KubeObject {
    const key = keyOfObject(object);
    const previous = this.#objects.get(key);
    const revision = this.#nextRevision();
    const current = withMeta(object, { resourceVersion: String(revision) });
    if (!previous) this.#keys.splice(this.#indexOf(key), 0, key);
    this.#objects.set(key, current);
    this.log.append({ revision, previous, current });
    return current;
  }

  /** Removes the object. Returns its last state with the resourceVersion of the removal. */
  remove(key: string): KubeObject | undefined {
    const previous = this.#objects.get(key);
    if (!previous) return undefined;
    const revision = this.#nextRevision();
    this.#objects.delete(key);
    this.#keys.splice(this.#indexOf(key), 1);
    this.log.append({ revision, previous, current: undefined });
    return withMeta(previous, { resourceVersion: String(revision) });
  }

  /** The objects of one namespace or of all, in the order of their keys. */
  list(namespace?: string): KubeObject[] {
    const prefix = namespace === undefined ? '' : `${namespace}/`;
    const listed: KubeObject[] = [];
    for (let i = this.#indexOf(prefix); i < this.#keys.length; i++) {
      const key = this.#keys[i] ?? '';
      if (!key.startsWith(prefix)) break;
      const object = this.#objects.get(key);
      if (object) listed.push(object);
    }
    return listed;
  }

  /** What `list` returned at `revision`; undefined when that is forgotten. */
  listAt(revision: number, namespace?: string): readonly KubeObject[] | undefined {
    const position = this.log.positionAfter(revision);
    if (position === undefined) return undefined;
    if (position === this.log.end) return this.list(namespace);
    const objects = new Map(this.list(namespace).map((object) => [keyOfObject(object), object]));
    for (let i = this.log.end - 1; i >= position; i--) {
      const change = this.log.at(i);
      const object = change?.current ?? change?.previous;
      if (!object || (namespace !== undefined && object.metadata.namespace !== namespace)) continue;
      if (change?.previous) objects.set(keyOfObject(object), change.previous);
      else objects.delete(keyOfObject(object));
    }
    return [...objects].sort(([a], [b]) => byCodeUnit(a, b)).map(([, object]) => object);
  }

  /** Where `key` is, or would be, among the keys. */
  #indexOf(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
