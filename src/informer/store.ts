import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Lister, Stored } from './lister.ts';

/**
 * Reads over one partition for the whole cluster, or one for each watched namespace: a list of one
 * leaves the others alone. The writers take care that no object is in two of them.
 */
export class Store<S extends Stored, I extends string> implements Lister<S, I> {
  readonly #partitions: readonly { readonly items: Lister<S, I> }[];

  constructor(partitions: readonly { readonly items: Lister<S, I> }[]) {
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
