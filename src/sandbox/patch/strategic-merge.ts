/**
 * Strategic merge patch: k8s.io/apimachinery pkg/util/strategicpatch, with merge keys from our
 * schemas.
 */
import {
  equal,
  goText,
  isList,
  isObject,
  type Json,
  type JsonObject,
  listAt,
  objectOf,
} from '../objects/json.ts';
import { badRequest, StatusError } from '../objects/status.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';

const ORDER = '$setElementOrder';
const DELETE_FROM = '$deleteFromPrimitiveList';

/** `original` changed by `patch`. */
export function strategicMerge(schema: Schema, original: JsonObject, patch: JsonObject): JsonObject {
  return mergeObject(schema, original, patch);
}

function schemaOf(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === 'map') return schema.values;
  if (schema?.type !== 'struct') return undefined;
  return schema.fields.find((field) => field.name === key)?.schema;
}

function mergeObject(schema: Schema | undefined, original: JsonObject, patch: JsonObject): JsonObject {
  const directive = patch['$patch'];
  if (directive === 'replace') return withoutDirectives(patch);
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw new StatusError(500, '', `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`);
  }
  const merged = new Map(Object.entries(original));
  for (const [key, value] of Object.entries(patch)) {
    if (isDirective(key)) continue;
    const present = merged.get(key);
    if (value === null) merged.delete(key);
    else if (present !== undefined) merged.set(key, mergeValue(schemaOf(schema, key), present, value));
    else if (!hasDirective(value)) merged.set(key, withoutDirectivesInside(value));
  }
  for (const key of namesAfter(DELETE_FROM, patch)) {
    deleteFromList(merged, key, listAt(patch, `${DELETE_FROM}/${key}`));
  }
  for (const key of namesAfter(ORDER, patch)) {
    orderList(merged, schema, key, original, listAt(patch, `${ORDER}/${key}`));
  }
  return objectOf(merged);
}

/** The NAMEs in directives `directive`/NAME. */
function namesAfter(directive: string, patch: JsonObject): readonly string[] {
  const keys = Object.keys(patch).filter((key) => key.startsWith(directive));
  if (keys.some((key) => !key.startsWith(`${directive}/`))) {
    const what = directive === ORDER ? 'setElementOrder' : 'primitive';
    throw badRequest(`invalid patch format of ${what} list`);
  }
  return keys.map((key) => key.slice(directive.length + 1));
}

function mergeValue(schema: Schema | undefined, original: Json, patch: Json): Json {
  if (isObject(patch)) return mergeObject(schema, isObject(original) ? original : {}, patch);
  if (isList(patch) && schema?.type === 'list' && schema.patchMerge) {
    const { key } = schema.patchMerge;
    if (!isList(original)) return withoutDirectiveItems(patch);
    const merged =
      key === undefined ? mergeScalars(original, patch) : mergeItems(schema, key, original, patch);
    return inOrder(merged, patch, original, key);
  }
  return patch;
}

/** The real server drops such a value as a whole where there is nothing that it could change. */
const hasDirective = (value: Json): boolean => isObject(value) && value['$patch'] !== undefined;

/** What a patch adds: no directives, and no nulls, at any depth. */
function withoutDirectivesInside(value: Json): Json {
  if (isList(value)) return value.filter((item) => !hasDirective(item)).map(withoutDirectivesInside);
  if (!isObject(value)) return value;
  const kept = Object.entries(withoutDirectives(value)).filter(
    ([, part]) => part !== null && !hasDirective(part),
  );
  return objectOf(kept.map(([key, part]) => [key, withoutDirectivesInside(part)]));
}

const withoutDirectives = (patch: JsonObject): JsonObject =>
  objectOf(Object.entries(patch).filter(([key]) => !isDirective(key)));

/** `$retainKeys` is missing, since no list or map of ours has that strategy. */
const isDirective = (key: string): boolean =>
  key === '$patch' || key.startsWith(ORDER) || key.startsWith(DELETE_FROM);

/** A new list, without its directives. */
const withoutDirectiveItems = (patch: readonly Json[]): readonly Json[] =>
  patch.filter((item) => !isObject(item) || item['$patch'] === undefined);

const mergeScalars = (present: readonly Json[], patch: readonly Json[]): readonly Json[] => [
  ...present,
  ...patch.filter((item) => !present.some((other) => equal(item, other))),
];

function mergeItems(
  schema: ListSchema,
  key: string,
  present: readonly Json[],
  patch: readonly Json[],
): readonly Json[] {
  const items = patch.map((item) => {
    if (!isObject(item)) throw badRequest('expected a list of objects in a strategic merge patch');
    return item;
  });
  if (items.some((item) => item['$patch'] === 'replace')) {
    return items.filter((item) => item['$patch'] === undefined);
  }
  let merged = [...present];
  for (const item of items) {
    const id = item[key];
    if (id === undefined) throw missingMergeKey(item, key);
    const index = merged.findIndex((other) => isObject(other) && equal(other[key], id));
    const existing = merged[index];
    if (item['$patch'] === 'delete') merged = merged.filter((_, i) => i !== index);
    else if (isObject(existing)) merged[index] = mergeObject(schema.items, existing, item);
    else merged.push(withoutDirectives(item));
  }
  return merged;
}

/** The real server has no proper refusal for this. */
const missingMergeKey = (item: JsonObject, key: string): StatusError =>
  new StatusError(500, '', `map: ${goText(item)} does not contain declared merge key: ${key}`);

function deleteFromList(merged: Map<string, Json>, key: string, values: readonly Json[]): void {
  const list = merged.get(key);
  if (!isList(list)) return;
  merged.set(
    key,
    list.filter((item) => !values.some((value) => equal(value, item))),
  );
}

/** Sorts the list at `key` as a directive of the patch says. */
function orderList(
  merged: Map<string, Json>,
  schema: Schema | undefined,
  key: string,
  original: JsonObject,
  order: readonly Json[],
): void {
  const list = merged.get(key);
  const listSchema = schemaOf(schema, key);
  if (!isList(list) || listSchema?.type !== 'list') return;
  merged.set(key, inOrder(list, order, listAt(original, key), listSchema.patchMerge?.key));
}

/**
 * `list` in the given order. An item without a place there goes before the first item that it
 * preceded in `original`.
 */
function inOrder(
  list: readonly Json[],
  order: readonly Json[],
  original: readonly Json[],
  mergeKey: string | undefined,
): readonly Json[] {
  const identity = (item: Json): string =>
    JSON.stringify(mergeKey !== undefined && isObject(item) ? item[mergeKey] : item);
  const wanted = order.map(identity);
  const before = original.map(identity);
  const named = list
    .filter((item) => wanted.includes(identity(item)))
    .sort((a, b) => wanted.indexOf(identity(a)) - wanted.indexOf(identity(b)));
  const others = list.filter((item) => !wanted.includes(identity(item)));
  const precedes = (a: Json, b: Json): boolean => {
    const place = before.indexOf(identity(a));
    return place !== -1 && place < before.indexOf(identity(b));
  };
  const result: Json[] = [];
  for (const item of named) {
    while (others[0] !== undefined && precedes(others[0], item)) result.push(others.shift() ?? null);
    result.push(item);
  }
  return [...result, ...others];
}
