import type { ObservedConfigMap } from './observed.ts';
import { MANAGED_BY } from './vocabulary.ts';

/** The text itself, or an equal one that is in memory already. */
export type Share = <T extends string>(text: T) => T;

export const NOTHING_SHARED: Share = (text) => text;

/**
 * A companion repeats its source: its uid and checksum, its key, its name and namespace. Where these are the source's own
 * texts each is in memory once, which is a third of what we remember of a companion (SPEC W4).
 */
export function sharingWith(source: ObservedConfigMap): Share {
  const { uid, digest, key, name, namespace, request } = source;
  const companionName = request?.ok ? request.value.companionName : '';
  const texts: readonly string[] = [uid, digest, key, name, namespace, companionName, MANAGED_BY];
  return <T extends string>(text: T) =>
    (texts.find((candidate) => candidate === text) as T | undefined) ?? text;
}

/** The same entries. Not by a spread: V8 would keep a hidden class for each of these once they are frozen. */
export function sharingEntries<T extends object>(entries: T, share: Share): T {
  if (share === NOTHING_SHARED) return entries;
  const shared = Object.entries(entries).map(([key, value]) => [
    key,
    typeof value === 'string' ? share(value) : value,
  ]);
  return Object.fromEntries(shared) as T;
}
