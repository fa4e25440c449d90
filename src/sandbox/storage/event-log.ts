import type { KubeObject } from '../objects/kube-object.ts';

/** One write to a collection: created has no `previous`, deleted no `current`. */
export interface Change {
  readonly revision: number;
  readonly previous: KubeObject | undefined;
  readonly current: KubeObject | undefined;
}

/**
 * The recent changes of one collection in order. Watches read it at their own pace. Positions are
 * absolute: one stays valid until its own change is dropped.
 */
export class EventLog {
  readonly #limit: number;
  readonly #listeners = new Set<() => void>();
  #changes: Change[] = [];
  /** Position of `#changes[0]`. */
  #base = 0;
  /** Changes up to this revision may be missing. */
  #compactedRevision = 0;

  /** Keeps at least the last `limit` changes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get end(): number {
    return this.#base + this.#changes.length;
  }

  /**
   * Where a watch from after `revision` starts; undefined when changes after it have been dropped.
   */
  positionAfter(revision: number): number | undefined {
    if (revision < this.#compactedRevision) return undefined;
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.#base + low;
  }

  /** The change at `position`; undefined at the end and for a dropped change. */
  at(position: number): Change | undefined {
    return this.#changes[position - this.#base];
  }

  hasDropped(position: number): boolean {
    return position < this.#base;
  }

  append(change: Change): void {
    this.#changes.push(change);
    // In batches, so that each change is moved at most once.
    if (this.#changes.length >= 2 * this.#limit) this.#drop(this.#changes.length - this.#limit);
    for (const listener of this.#listeners) listener();
  }

  /** Drops all changes, up to `revision`. */
  compact(revision: number): void {
    this.#drop(this.#changes.length);
    this.#compactedRevision = revision;
  }

  /** Calls `listener` after each append until the returned function is called. */
  onAppend(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #drop(count: number): void {
    this.#compactedRevision = this.#changes[count - 1]?.revision ?? this.#compactedRevision;
    this.#changes = this.#changes.slice(count);
    this.#base += count;
  }
}
