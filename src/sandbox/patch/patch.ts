/** JSON patch (RFC 6902) and merge patch (RFC 7386), with the API server's refusals. */
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { isList, isObject, type Json, type JsonObject, objectOf } from '../objects/json.ts';
import { badRequest, tooLarge, unprocessable } from '../objects/status.ts';

const OPERATIONS_LIMIT = 10_000;

/**
 * `document` after `patch`. Throws 400 for a malformed patch, 422 for one that cannot be applied.
 */
export function jsonPatch(document: JsonObject, patch: Json): Json {
  if (!isList(patch)) throw notAPatch(patch, '[]handlers.jsonPatchOp');
  if (patch.length > OPERATIONS_LIMIT) {
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${OPERATIONS_LIMIT}, got ${patch.length}`,
    );
  }
  const operations = patch.map((operation) => {
    if (!isObject(operation)) throw notAPatch(operation, 'handlers.jsonPatchOp');
    return withStandIns(operation);
  });
  // One level down, so that an operation may replace the whole document (path "").
  const root = { document: renamed(document, STAND_INS) };
  for (const operation of operations) carryOut(root, operation);
  return renamed(root.document, ORIGINALS);
}

/**
 * Valid keys of a ConfigMap that the library skips in pointers or loses in clones. They get other
 * names while it works.
 */
const STAND_INS: ReadonlyMap<string, string> = new Map(
  ['__proto__', 'constructor', 'prototype'].map((key) => [key, `\u0000${key}`]),
);
const ORIGINALS: ReadonlyMap<string, string> = new Map(
  [...STAND_INS].map(([key, standIn]) => [standIn, key]),
);

function withStandIns(operation: JsonObject): JsonObject {
  const { path, from, value } = operation;
  const pointer = (text: string) => text.split('/').map((token) => STAND_INS.get(token) ?? token);
  return {
    ...operation,
    ...(typeof path === 'string' && { path: pointer(path).join('/') }),
    ...(typeof from === 'string' && { from: pointer(from).join('/') }),
    ...(value !== undefined && { value: renamed(value, STAND_INS) }),
  };
}

/** A deep copy in which members have other names. */
function renamed(value: Json, names: ReadonlyMap<string, string>): Json {
  if (isList(value)) return value.map((item) => renamed(item, names));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, member]) => [names.get(key) ?? key, renamed(member, names)] as const,
  );
  return objectOf(entries);
}

const notAPatch = (value: Json, goType: string) =>
  badRequest(
    `error decoding patch: json: cannot unmarshal ${isObject(value) ? 'object' : isList(value) ? 'array' : typeof value} into Go value of type ${goType}`,
  );

function carryOut(root: { readonly document: Json }, given: JsonObject): void {
  try {
    const operation = adapted(root, given);
    const outcomes: readonly unknown[] = applyPatch(root, [operation as unknown as Operation]);
    if (outcomes.every((outcome) => outcome === null)) return;
  } catch {
    // The library throws on a malformed pointer and returns all other failures.
  }
  throw unprocessable();
}

/** The operation one level down, in the form that makes our library do what the server's does. */
function adapted(root: Json, operation: JsonObject): JsonObject {
  const { op } = operation;
  const path = oneLevelDown(operation['path']);
  const from = op === 'move' || op === 'copy' ? oneLevelDown(operation['from']) : undefined;
  const moved = { ...operation, ...(path !== undefined && { path }), ...(from !== undefined && { from }) };
  const source = from === undefined ? undefined : ownMember(root, from);
  if (source !== undefined && source.value === undefined) {
    if (op !== 'copy' || path === undefined || !isObject(source.parent)) throw unprocessable();
    // The server copies a missing member as null.
    return { op: 'add', path, value: null };
  }
  return path === undefined ? moved : leniently(root, { ...moved, path });
}

function oneLevelDown(pointer: Json | undefined): string | undefined {
  if (typeof pointer !== 'string') return undefined;
  if (!/^(\/|$)/.test(pointer)) throw unprocessable();
  return `/document${pointer}`;
}

/**
 * In the server's library (github.com/evanphx/json-patch), `replace` may set a missing member, and
 * `test` takes a missing member for null. RFC 6902 and our library do not allow that.
 */
function leniently(root: Json, operation: JsonObject & { readonly path: string }): JsonObject {
  const { op, path } = operation;
  const { parent, value } = ownMember(root, path);
  if (isList(parent)) return operation;
  if (!isObject(parent)) throw unprocessable();
  if (op === 'replace') return { ...operation, op: 'add', value: operation['value'] ?? null };
  if (value !== undefined) return operation;
  if (op === 'test' && operation['value'] === null) return { op: 'test', path: '', value: root };
  if (op === 'test' || op === 'remove') throw unprocessable();
  return operation;
}

/** The value at a pointer. Our library would find `toString` in every object and copy it. */
function ownMember(
  root: Json,
  pointer: string,
): { readonly parent: Json | undefined; readonly value: Json | undefined } {
  let parent: Json | undefined;
  let value: Json | undefined = root;
  for (const token of Pointer.fromJSON(pointer).tokens.slice(1)) {
    parent = value;
    if (isList(parent)) value = parent[Number(token)];
    else value = isObject(parent) && Object.hasOwn(parent, token) ? parent[token] : undefined;
  }
  return { parent, value };
}

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return objectOf(merged);
}
