/** JSON values. They are immutable: the store and all its readers share them. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

/** The object at `key`, else an empty object. Ignores inherited keys (`constructor`). */
export function objectAt(parent: JsonObject, key: string): JsonObject {
  const value = memberAt(parent, key);
  return isObject(value) ? value : {};
}

export function listAt(parent: JsonObject, key: string): readonly Json[] {
  const value = memberAt(parent, key);
  return isList(value) ? value : [];
}

export function stringAt(parent: JsonObject, key: string): string {
  const value = memberAt(parent, key);
  return typeof value === 'string' ? value : '';
}

export function memberAt(parent: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/**
 * An object from entries. The API allows the data key `__proto__`: `Object.fromEntries` keeps it,
 * an assignment would lose it.
 */
export function objectOf(entries: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries(entries);
}

/** A copy of `object` with `changes` on top; a change to undefined removes the key. */
export function withMembers(
  object: JsonObject,
  changes: Readonly<Record<string, Json | undefined>>,
): JsonObject {
  const members = new Map(Object.entries(object));
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) members.delete(key);
    else members.set(key, value);
  }
  return objectOf(members);
}

export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  );
}

/** `text` as Go's `%q` prints it, which the API server's messages use. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** The order of Go's `sort.Strings` and of etcd's keys (by UTF-8 bytes), for ASCII. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** JSON as Go's `%v` prints it: `map[a:1 b:[x y]]`. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (isList(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort(byCodeUnit);
  return `map[${members.map((key) => `${key}:${goText(value[key] ?? null)}`).join(' ')}]`;
}
