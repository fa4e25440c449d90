/** JSON patch (RFC 6902) and merge patch (RFC 7386), with the API server's answers to bad ones. */
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { isList, isObject, type Json, type JsonObject, objectOf } from '../objects/json.ts';
import { badRequest, tooLarge, unprocessable } from '../objects/status.ts';

const OPERATIONS_LIMIT = 10_000;

/** `document` after `patch`. Throws 400 for what is not a patch, 422 for one that cannot be carried out. */
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
 * Legal keys of a ConfigMap, which the library passes over in a pointer, and one of which it loses when it clones. So they
 * have other names meanwhile.
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

/** The operation one level down, as our library is to carry it out. */
function adapted(root: Json, operation: JsonObject): JsonObject {
  const { op } = operation;
  const path = oneLevelDown(operation['path']);
  const from = op === 'move' || op === 'copy' ? oneLevelDown(operation['from']) : undefined;
  const moved = { ...operation, ...(path !== undefined && { path }), ...(from !== undefined && { from }) };
  const source = from === undefined ? undefined : ownMember(root, from);
  if (source !== undefined && source.value === undefined) {
    if (op !== 'copy' || path === undefined || !isObject(source.parent)) throw unprocessable();
    // The server copies a null from where there is nothing.
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
 * The server's library (github.com/evanphx/json-patch) lets `replace` set a member that is not there, and takes a
 * missing member for null in a `test`; RFC 6902 and our library do not.
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

/** What a pointer leads to. The library would find `toString` in every object, and put it into the document. */
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
