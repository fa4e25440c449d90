import type { ObjectKey } from '../kube/api/object-key.ts';
import { IndexedMap } from './indexed-map.ts';
import type { Indexers, Lister, Stored } from './lister.ts';

/** Objects that a list replaces as a whole. One owner writes to it: the reflector that feeds it. */
export class Partition<S extends Stored, I extends string = string> {
  readonly #indexers: Indexers<S, I>;
  /** What readers see. */
  items: IndexedMap<S, I>;

  constructor(indexers: Indexers<S, I>) {
    this.#indexers = indexers;
    this.items = this.draft();
  }

  /** An empty map to fill while no reader sees it. */
  draft(): IndexedMap<S, I> {
    return new IndexedMap(this.#indexers);
  }
}

/**
 * Reads over one partition for the whole cluster, or one for each watched namespace: a list of one
 * leaves the others alone. The writers take care that no object is in two of them.
 */
export class Store<S extends Stored, I extends string = string> implements Lister<S, I> {
  readonly #indexers: Indexers<S, I>;
  readonly #partitions: Partition<S, I>[] = [];

  constructor(indexers: Indexers<S, I>) {
    this.#indexers = indexers;
  }

  addPartition(): Partition<S, I> {
    const partition = new Partition(this.#indexers);
    this.#partitions.push(partition);
    return partition;
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
