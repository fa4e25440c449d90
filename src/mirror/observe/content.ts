import type { Renames } from '../request/key-renames.ts';
import { matchesGlobs, matchesNothing } from '../request/patterns.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { StringMap } from '../vocabulary.ts';

/** What a ConfigMap holds. Values of `binaryData` are base64, as on the wire. */
export interface Content {
  readonly data: StringMap;
  readonly binaryData: StringMap;
}

/** The keys to copy, and their new names. */
export type KeySelection = Pick<MirrorRequest, 'includeKeys' | 'excludeKeys' | 'renameKeys'>;

/** The part of a source's content that companions hold, under their keys (SPEC M3, V1). */
export function selectContent(content: Content, selection: KeySelection): Content {
  return renameKeys(selectKeys(content, selection), selection);
}

/** The same under the source's keys. */
export function selectKeys(content: Content, { includeKeys, excludeKeys }: KeySelection): Content {
  if (includeKeys === undefined && matchesNothing(excludeKeys)) return content;
  const selected = (key: string) =>
    (includeKeys === undefined || matchesGlobs(includeKeys, key)) && !matchesGlobs(excludeKeys, key);
  return { data: pick(content.data, selected), binaryData: pick(content.binaryData, selected) };
}

/** Selected content under the companion's keys. */
export function renameKeys(selected: Content, { renameKeys: renames }: KeySelection): Content {
  if (renames.size === 0) return selected;
  return { data: renamed(selected.data, renames), binaryData: renamed(selected.binaryData, renames) };
}

function renamed(entries: StringMap, renames: Renames): StringMap {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [renames.get(key) ?? key, value]));
}

/** Texts and binaries share the keys: none is in both. */
export function keysIn({ data, binaryData }: Content): readonly string[] {
  return [...Object.keys(data), ...Object.keys(binaryData)];
}

/** Which of the two maps are not empty. The API server drops an empty one. */
export function mapsIn({ data = {}, binaryData = {} }: Partial<Content>) {
  return { hasData: Object.keys(data).length > 0, hasBinaryData: Object.keys(binaryData).length > 0 };
}

export function isEmpty(content: Content): boolean {
  const { hasData, hasBinaryData } = mapsIn(content);
  return !hasData && !hasBinaryData;
}

export function pick(entries: StringMap, selected: (key: string) => boolean): StringMap {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => selected(key)));
}
