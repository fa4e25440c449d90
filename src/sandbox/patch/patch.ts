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
    return withoutProto(operation);
  });
  // One level down, so that an operation may replace the whole document (path "").
  const root = { document: renamed(document, PROTO, STAND_IN) };
  for (const operation of operations) carryOut(root, operation);
  return renamed(root.document, STAND_IN, PROTO);
}

/** A legal key of a ConfigMap, which the library loses: it clones by assignment. So it has another name meanwhile. */
const PROTO = '__proto__';
const STAND_IN = '\u0000proto';

function withoutProto(operation: JsonObject): JsonObject {
  const { path, from, value } = operation;
  const pointer = (text: string) => text.split('/').map((token) => (token === PROTO ? STAND_IN : token));
  return {
    ...operation,
    ...(typeof path === 'string' && { path: pointer(path).join('/') }),
    ...(typeof from === 'string' && { from: pointer(from).join('/') }),
    ...(value !== undefined && { value: renamed(value, PROTO, STAND_IN) }),
  };
}

/** A deep copy in which the members called `from` are called `to`. */
function renamed(value: Json, from: string, to: string): Json {
  if (isList(value)) return value.map((item) => renamed(item, from, to));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([key, member]) => [key === from ? to : key, renamed(member, from, to)] as const,
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
  if (typeof path !== 'string') return moved;
  const { parent, value } = Pointer.fromJSON(moved.path ?? '').evaluate(root);
  if (op === 'test' && value === undefined && isObject(parent)) {
    // What is not there counts as null.
    if (operation['value'] === null) return { op: 'test', path: '', value: root };
  }
  if (op !== 'replace' || !isObject(parent)) return moved;
  return { ...moved, op: 'add', value: operation['value'] ?? null };
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
