import type { ObjectKey } from '../kube/api/object-key.ts';
import { type Content, type KeySelection, selectContent } from '../mirror/observe/content.ts';
import type { StringMap } from '../mirror/vocabulary.ts';
import { areTooMany } from './state/record.ts';

/** The keys of each source that have changed since its last notification. */
export class ChangedKeys {
  /** Undefined: it is not known which. */
  readonly #keys = new Map<ObjectKey, Set<string> | undefined>();

  add(source: ObjectKey, before: Content | undefined, after: Content): void {
    if (this.#keys.has(source) && this.#keys.get(source) === undefined) return;
    const keys = this.#keys.get(source) ?? new Set();
    if (before !== undefined) {
      for (const key of differing(before.data, after.data)) keys.add(key);
      for (const key of differing(before.binaryData, after.binaryData)) keys.add(key);
    }
    if (before !== undefined && keys.size === 0) return;
    this.#keys.set(source, before === undefined || areTooMany(keys) ? undefined : keys);
  }

  /** Those of them that companions have, in order; undefined if unknown. */
  of(source: ObjectKey, selection: KeySelection): readonly string[] | undefined {
    const keys = this.#keys.get(source);
    if (keys === undefined) return undefined;
    const data = Object.fromEntries(Array.from(keys, (key) => [key, '']));
    const selected = Object.keys(selectContent({ data, binaryData: {} }, selection).data);
    // None: the source has changed what it selects, not its data.
    return selected.length === 0 ? undefined : selected.sort();
  }

  /** A notification has said them. */
  forget(source: ObjectKey): void {
    this.#keys.delete(source);
  }
}

function* differing(before: StringMap, after: StringMap): Iterable<string> {
  for (const [key, value] of Object.entries(after)) if (before[key] !== value) yield key;
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) yield key;
}
