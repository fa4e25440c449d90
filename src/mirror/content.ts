import type { Content } from './digest.ts';
import { type KeyGlobs, matchesGlobs, matchesNothing } from './patterns.ts';

/** The part of a source's content that its companions hold (SPEC M3): included keys, less the excluded ones. */
export function selectContent(
  content: Content,
  keys: { readonly includeKeys: KeyGlobs | undefined; readonly excludeKeys: KeyGlobs },
): Content {
  const { includeKeys, excludeKeys } = keys;
  if (includeKeys === undefined && matchesNothing(excludeKeys)) return content;
  const selected = (key: string) =>
    (includeKeys === undefined || matchesGlobs(includeKeys, key)) && !matchesGlobs(excludeKeys, key);
  return { data: pick(content.data, selected), binaryData: pick(content.binaryData, selected) };
}

export function pick<V>(
  entries: Readonly<Record<string, V>>,
  selected: (key: string) => boolean,
): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => selected(key)));
}
