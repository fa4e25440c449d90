import { type KeyGlobs, matchesGlobs, matchesNothing } from '../request/patterns.ts';
import type { StringMap } from '../vocabulary.ts';

/** What a ConfigMap holds. Values of `binaryData` are base64, as on the wire. */
export interface Content {
  readonly data: StringMap;
  readonly binaryData: StringMap;
}

/** The keys that a source asks to be copied; `includeKeys` undefined: every key. */
export interface KeySelection {
  readonly includeKeys: KeyGlobs | undefined;
  readonly excludeKeys: KeyGlobs;
}

/** What companions hold of a source's content (SPEC M3): included keys, less the excluded ones. */
export function selectContent(content: Content, { includeKeys, excludeKeys }: KeySelection): Content {
  if (includeKeys === undefined && matchesNothing(excludeKeys)) return content;
  const selected = (key: string) =>
    (includeKeys === undefined || matchesGlobs(includeKeys, key)) && !matchesGlobs(excludeKeys, key);
  return { data: pick(content.data, selected), binaryData: pick(content.binaryData, selected) };
}

/** Which of the two maps are on the wire: an empty one is not. */
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
