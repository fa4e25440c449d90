import type { Change } from './change.ts';

/**
 * Most that one ConfigMap holds (bytes). The API server takes 1 MiB of values, and etcd 1.5 MiB
 * with the keys, which are in the managed fields, too.
 */
export const MOST_BYTES = 1_000_000;

/** What a record takes of it. */
export function bytesOf({ uid, text }: Pick<Change, 'uid' | 'text'>): number {
  return text === undefined ? 0 : uid.length + Buffer.byteLength(text);
}

/**
 * The changes for which there is room, in the order in which they are given. `sizes`: of each
 * record in the ConfigMap. A change that makes its record no larger always has room.
 */
export function fitting(
  changes: readonly Change[],
  sizes: ReadonlyMap<string, { readonly bytes: number }>,
): readonly Change[] {
  let room = MOST_BYTES - totalBytes(sizes);
  return changes.filter((change) => {
    const growth = bytesOf(change) - (sizes.get(change.uid)?.bytes ?? 0);
    if (growth > Math.max(0, room)) return false;
    room -= growth;
    return true;
  });
}

export function totalBytes(sizes: ReadonlyMap<string, { readonly bytes: number }>): number {
  let total = 0;
  for (const { bytes } of sizes.values()) total += bytes;
  return total;
}
