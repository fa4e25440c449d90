import type { ObjectKey } from '../kube/api/object-key.ts';

/** What every cached item says of the object that it stands for. */
export interface Stored {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * The read side of an informer's store: all that it knows of the cluster, a moment late. Items are frozen
 * and shared: keep one as long as you like, a later version is another item. Reads never see a list half
 * replaced. `I` are the names of the indexes.
 */
export interface Lister<S extends Stored, I extends string = string> {
  get(key: ObjectKey): S | undefined;
  /** Every item, in no particular order; to be used up before the next `await`. */
  values(): IterableIterator<S>;
  /** The items for which the index `name` gave `value`, in no particular order; empty when there are none. */
  byIndex(name: I, value: string): readonly S[];
  readonly size: number;
}

/** For each index its name and the values under which it files an item: pure, and cheap (it runs for every change). */
export type Indexers<S extends Stored, I extends string = string> = Readonly<
  Record<I, (item: S) => readonly string[]>
>;
