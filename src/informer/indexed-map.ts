import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Indexers, Lister, Stored } from './lister.ts';

/**
 * From an index value to the keys filed under it. Nearly every value has one key, which is stored
 * without a `Set`: that alone would cost about 200 bytes, more than the rest of the entry.
 */
type Index = Map<string, ObjectKey | Set<ObjectKey>>;

interface IndexOf<S> {
  readonly valuesOf: (item: S) => readonly string[];
  readonly entries: Index;
}

const NONE: readonly never[] = [];

/**
 * Items by key, and by the values of each index. The cost of a change does not depend on the number
 * of items.
 */
export class IndexedMap<S extends Stored, I extends string = string> implements Lister<S, I> {
  readonly #items = new Map<ObjectKey, S>();
  readonly #indexes: ReadonlyMap<string, IndexOf<S>>;

  constructor(indexers: Indexers<S, I>) {
    const all = Object.entries<IndexOf<S>['valuesOf']>(indexers);
    this.#indexes = new Map(all.map(([name, valuesOf]) => [name, { valuesOf, entries: new Map() }]));
  }

  get size(): number {
    return this.#items.size;
  }

  get(key: ObjectKey): S | undefined {
    return this.#items.get(key);
  }

  values(): IterableIterator<S> {
    return this.#items.values();
  }

  byIndex(name: I, value: string): readonly S[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`no index is named ${name}`);
    const entry = index.entries.get(value);
    if (entry === undefined) return NONE;
    const items: S[] = [];
    for (const key of typeof entry === 'string' ? [entry] : entry) {
      const item = this.#items.get(key);
      if (item !== undefined) items.push(item);
    }
    return items;
  }

  /** Stores `item` at its key and returns the item that it replaces. */
  set(item: S): S | undefined {
    const previous = this.#items.get(item.key);
    this.#items.set(item.key, item);
    for (const { valuesOf, entries } of this.#indexes.values()) {
      const before = previous === undefined ? [] : valuesOf(previous);
      const after = valuesOf(item);
      if (equal(before, after)) continue;
      for (const value of before) unfile(entries, value, item.key);
      for (const value of after) file(entries, value, item.key);
    }
    return previous;
  }

  /** Removes the item at `key` and returns it. */
  delete(key: ObjectKey): S | undefined {
    const previous = this.#items.get(key);
    if (previous === undefined) return undefined;
    this.#items.delete(key);
    for (const { valuesOf, entries } of this.#indexes.values()) {
      for (const value of valuesOf(previous)) unfile(entries, value, key);
    }
    return previous;
  }
}

function file(index: Index, value: string, key: ObjectKey): void {
  const entry = index.get(value);
  if (entry === undefined) index.set(value, key);
  else if (typeof entry !== 'string') entry.add(key);
  else if (entry !== key) index.set(value, new Set([entry, key]));
}

function unfile(index: Index, value: string, key: ObjectKey): void {
  const entry = index.get(value);
  if (entry === key) {
    index.delete(value);
  } else if (entry instanceof Set) {
    entry.delete(key);
    if (entry.size > 1) return;
    const [only] = entry;
    if (only !== undefined) index.set(value, only);
  }
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, position) => value === b[position]);
}
