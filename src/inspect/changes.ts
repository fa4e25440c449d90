import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import type { ConfigMap } from '../kube/api/types.ts';
import { desiredEdition } from '../mirror/companion/companion.ts';
import type { Difference } from '../mirror/companion/drift.ts';
import type { Entry } from '../mirror/explain/inventory.ts';
import { type Content, selectContent } from '../mirror/observe/content.ts';
import { desiredOf } from '../mirror/plan/desired.ts';
import type { Origin } from '../mirror/render/resolve.ts';
import type { StringMap } from '../mirror/vocabulary.ts';
import type { Look } from './inspection.ts';

/** What a write would change in a companion: names and sizes, never values. */
export type Change =
  | {
      readonly kind: 'data' | 'binaryData';
      readonly key: string;
      readonly change: 'add' | 'change' | 'remove';
      /** Sizes of the value; null where there is none. */
      readonly bytesBefore: number | null;
      readonly bytesAfter: number | null;
      /** Of a key that is rendered: where the text of each comes from. */
      readonly placeholders?: readonly { readonly placeholder: string; readonly from: string }[];
    }
  | { readonly kind: 'label' | 'annotation'; readonly key: string; readonly change: 'set' | 'remove' }
  | { readonly kind: 'owner references' };

/** Reads both ConfigMaps if their content differs: the cache has only its digest. */
export async function changesOf(entry: Entry, look: Look): Promise<readonly Change[]> {
  const { source, companion, differences = [] } = entry;
  const changes: Change[] = [];
  for (const difference of differences) {
    if (difference.kind !== 'content') {
      changes.push(metadataChange(difference));
      continue;
    }
    if (source === undefined || companion === undefined) continue;
    const before = contentOf(await look.body(companion));
    const { after, originsOf } = await desiredContent(source, companion, look);
    changes.push(...contentChanges(before, after).map((change) => withOrigins(change, originsOf)));
  }
  return changes;
}

function metadataChange(difference: Exclude<Difference, { readonly kind: 'content' }>): Change {
  if (difference.kind === 'owner references') return { kind: difference.kind };
  const { kind, key, value } = difference;
  return { kind, key, change: value === undefined ? 'remove' : 'set' };
}

/** What a companion should hold. */
async function desiredContent(key: ObjectKey, companion: ObjectKey, { view, renderings, body }: Look) {
  const { namespace } = splitKey(companion);
  const source = view.configMap(key);
  if (!source?.request?.ok) return { after: contentOf(await body(key)), originsOf: () => [] };
  const request = source.request.value;
  const rendering = renderings.get(key);
  const { shape } = desiredOf(source, request, rendering, view);
  const { revision } = desiredEdition(namespace, shape);
  if (rendering !== undefined) {
    const base = revision ?? source;
    const originsOf = (of: string) => rendering.originsIn(namespace, base, of);
    return { after: rendering.contentIn(namespace, base), originsOf };
  }
  const content = contentOf(await body(revision?.key ?? key));
  return { after: revision ? content : selectContent(content, request), originsOf: () => [] };
}

function withOrigins(change: Change, originsOf: (key: string) => readonly Origin[]): Change {
  if (change.kind !== 'data' || change.change === 'remove') return change;
  const placeholders = originsOf(change.key).map(({ placeholder, from }) => ({ placeholder, from }));
  return placeholders.length === 0 ? change : { ...change, placeholders };
}

export function contentOf(object: ConfigMap | undefined): Content {
  return { data: object?.data ?? {}, binaryData: object?.binaryData ?? {} };
}

/** In the order of the keys, texts first. */
export function contentChanges(before: Content, after: Content): readonly Change[] {
  return [
    ...entryChanges('data', before.data, after.data, (value) => Buffer.byteLength(value)),
    ...entryChanges('binaryData', before.binaryData, after.binaryData, (value) =>
      Buffer.byteLength(value, 'base64'),
    ),
  ];
}

function entryChanges(
  kind: 'data' | 'binaryData',
  before: StringMap,
  after: StringMap,
  sizeOf: (value: string) => number,
): readonly Change[] {
  const size = (entries: StringMap, key: string) =>
    // `Object.hasOwn`, because a key may be called `constructor`.
    Object.hasOwn(entries, key) ? sizeOf(entries[key] ?? '') : null;
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys
    .filter((key) => size(before, key) !== size(after, key) || before[key] !== after[key])
    .map((key) => {
      const [bytesBefore, bytesAfter] = [size(before, key), size(after, key)];
      const change = bytesBefore === null ? 'add' : bytesAfter === null ? 'remove' : 'change';
      return { kind, key, change, bytesBefore, bytesAfter };
    });
}

/** `data sky: 4 B → 12 B`, for a person. */
export function changeInWords(change: Change): string {
  switch (change.kind) {
    case 'owner references':
      return '~ owner references';
    case 'label':
    case 'annotation':
      return `${change.change === 'remove' ? '-' : '~'} ${change.kind} ${change.key}`;
    case 'data':
    case 'binaryData': {
      const { kind, key, bytesBefore, bytesAfter, placeholders = [] } = change;
      const origins = placeholders.map(({ placeholder, from }) => `; ${placeholder} is ${from}`).join('');
      if (bytesBefore === null) return `+ ${kind} ${key}: ${bytes(bytesAfter)}${origins}`;
      if (bytesAfter === null) return `- ${kind} ${key}: ${bytes(bytesBefore)}`;
      return `~ ${kind} ${key}: ${bytes(bytesBefore)} → ${bytes(bytesAfter)}${origins}`;
    }
  }
}

export function bytes(count: number | null): string {
  if (count === null || count < 1024) return `${count ?? 0} B`;
  return `${(count / 1024).toFixed(1)} KiB`;
}
