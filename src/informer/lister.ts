import type { ObjectKey } from '../kube/api/object-key.ts';

/** What every cached item has of its object. */
export interface Stored {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * The read side of an informer's store: the state of the cluster, a moment late. Items are frozen
 * and shared; a later version is a new item. No read sees a half-replaced list. `I` are the names
 * of the indexes.
 */
export interface Lister<S extends Stored, I extends string = string> {
  get(key: ObjectKey): S | undefined;
  /** Every item, in no particular order. Use the iterator up before the next `await`. */
  values(): IterableIterator<S>;
  /** The items that the index `name` files under `value`, in no particular order. */
  byIndex(name: I, value: string): readonly S[];
  readonly size: number;
}

/**
 * For each index its name, and a function that returns the values under which it files an item:
 * pure, and cheap.
 */
export type Indexers<S extends Stored, I extends string = string> = Readonly<
  Record<I, (item: S) => readonly string[]>
>;
