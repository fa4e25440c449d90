/** JSON patch (RFC 6902) and merge patch (RFC 7386), with the API server's answers to bad ones. */
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { isList, isObject, type Json, type JsonObject, objectOf } from '../json.ts';
import { badRequest, tooLarge, unprocessable } from '../status.ts';

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

/**
 * The operation one level down. The server's library (github.com/evanphx/json-patch) lets `replace` set a member
 * that is not there, and takes a missing member for null in a `test`; RFC 6902 and our library do not.
 */
function adapted(root: { readonly document: Json }, operation: JsonObject): JsonObject {
  const { op, path, from } = operation;
  if (typeof path === 'string' && !/^(\/|$)/.test(path)) throw unprocessable();
  const moved = {
    ...operation,
    ...(typeof path === 'string' ? { path: `/document${path}` } : {}),
    ...(typeof from === 'string' ? { from: `/document${from}` } : {}),
  };
  if ((op === 'move' || op === 'copy') && ownMember(root, moved.from ?? '').value === undefined)
    throw unprocessable();
  if (typeof path !== 'string') return moved;
  const { parent, value } = ownMember(root, moved.path ?? '');
  if (!isList(parent) && !isObject(parent)) throw unprocessable();
  if (value === undefined && isObject(parent)) {
    // What is not there counts as null.
    if (op === 'test' && operation['value'] === null) return { op: 'test', path: '', value: root };
    if (op === 'test' || op === 'remove') throw unprocessable();
  }
  if (op !== 'replace' || !isObject(parent)) return moved;
  return { ...moved, op: 'add', value: operation['value'] ?? null };
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
