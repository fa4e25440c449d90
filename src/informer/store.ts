import type { ObjectKey } from '../kube/api/object-key.ts';
import { IndexedMap } from './indexed-map.ts';
import type { Indexers, Lister, Stored } from './lister.ts';

/** The write side of one partition of a store. It has one owner, the reflector that feeds it. */
export interface StoreWriter<S extends Stored> {
  get(key: ObjectKey): S | undefined;
  /** Puts `item` at its key and returns what was there. */
  set(item: S): S | undefined;
  /** Takes out what is at `key` and returns it. */
  delete(key: ObjectKey): S | undefined;
  /** An empty partition to fill where no reader sees it. */
  draft(): IndexedMap<S>;
  /** Puts `draft` in the place of this partition, at once, and returns the items that it replaces. */
  swap(draft: IndexedMap<S>): IndexedMap<S>;
}

/**
 * Disjoint sets of objects (one for each namespace that is watched by itself, or a single one) with one
 * reader over all of them and one writer for each: a relist of one leaves the others alone. That no object
 * is in two of them is the writers' affair, and not checked.
 */
export class Store<S extends Stored, I extends string = string> {
  readonly lister: Lister<S, I>;
  readonly #indexers: Indexers<S, I>;
  readonly #partitions: Partition<S, I>[] = [];

  constructor(indexers: Indexers<S, I>) {
    this.#indexers = indexers;
    this.lister = new StoreLister(this.#partitions);
  }

  addPartition(): StoreWriter<S> {
    const partition = new Partition(this.#indexers);
    this.#partitions.push(partition);
    return partition;
  }
}

class Partition<S extends Stored, I extends string> implements StoreWriter<S> {
  readonly #indexers: Indexers<S, I>;
  items: IndexedMap<S, I>;

  constructor(indexers: Indexers<S, I>) {
    this.#indexers = indexers;
    this.items = this.draft();
  }

  get(key: ObjectKey): S | undefined {
    return this.items.get(key);
  }

  set(item: S): S | undefined {
    return this.items.set(item);
  }

  delete(key: ObjectKey): S | undefined {
    return this.items.delete(key);
  }

  draft(): IndexedMap<S, I> {
    return new IndexedMap(this.#indexers);
  }

  swap(draft: IndexedMap<S, I>): IndexedMap<S, I> {
    const replaced = this.items;
    this.items = draft;
    return replaced;
  }
}

class StoreLister<S extends Stored, I extends string> implements Lister<S, I> {
  readonly #partitions: readonly Partition<S, I>[];

  constructor(partitions: readonly Partition<S, I>[]) {
    this.#partitions = partitions;
  }

  get size(): number {
    return this.#partitions.reduce((sum, partition) => sum + partition.items.size, 0);
  }

  get(key: ObjectKey): S | undefined {
    for (const partition of this.#partitions) {
      const item = partition.items.get(key);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  *values(): IterableIterator<S> {
    for (const partition of this.#partitions) yield* partition.items.values();
  }

  byIndex(name: I, value: string): readonly S[] {
    const [only] = this.#partitions;
    if (only !== undefined && this.#partitions.length === 1) return only.items.byIndex(name, value);
    return this.#partitions.flatMap((partition) => partition.items.byIndex(name, value));
  }
}
