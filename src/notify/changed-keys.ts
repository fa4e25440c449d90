import type { ObjectKey } from '../kube/api/object-key.ts';
import { type Content, type KeySelection, selectContent } from '../mirror/observe/content.ts';
import type { StringMap } from '../mirror/vocabulary.ts';
import { areTooMany } from './state/record.ts';

/** The keys of each source that have changed since its last notification. */
export class ChangedKeys {
  readonly #keys = new Map<ObjectKey, Set<string> | 'unknown'>();

  /** `before` undefined: it is not known what it was. */
  add(source: ObjectKey, before: Content | undefined, after: Content): void {
    const keys = before === undefined ? 'unknown' : (this.#keys.get(source) ?? new Set());
    if (before !== undefined && keys !== 'unknown') {
      for (const key of differing(before.data, after.data)) keys.add(key);
      for (const key of differing(before.binaryData, after.binaryData)) keys.add(key);
    }
    this.#keys.set(source, keys === 'unknown' || areTooMany(keys) ? 'unknown' : keys);
  }

  /** Those of them that companions have, in order; undefined if unknown. */
  of(source: ObjectKey, selection: KeySelection): readonly string[] | undefined {
    const keys = this.#keys.get(source);
    if (keys === undefined || keys === 'unknown') return undefined;
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
