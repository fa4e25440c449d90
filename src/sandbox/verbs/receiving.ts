/** From the JSON of a create or update to an object of the kind that the path names. */
import { type DecodedObject, decodeAs } from '../kinds/decode-as.ts';
import { apiVersionOf, internalTypeOf, type Kind } from '../kinds/kinds.ts';
import { isObject, type Json, type JsonObject, quoted, stringAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { badRequest } from '../objects/status.ts';
import { DecodeError } from '../schema/decode-error.ts';
import type { FieldValidation } from './write-options.ts';

export interface Received {
  /** In the version of the request. */
  readonly object: KubeObject;
  /** The fields that were dropped, for the client to read. */
  readonly warnings: readonly string[];
}

/** Kind and apiVersion may be absent from the body, but must not name another kind. */
export function receive(kind: Kind, given: Json, validation: FieldValidation): Received {
  const place = `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
  const body = isObject(given) ? given : {};
  refuseOtherKind(kind, body);
  try {
    return validated(decodeAs(kind, body), validation, (why) => badRequest(`${place}: ${why}`));
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${place}: ${error.message}`);
    throw error;
  }
}

/** Unknown fields are an error, a warning or nothing, as the client asked. */
export function validated(
  { object, strictErrors }: DecodedObject,
  validation: FieldValidation,
  refuse: (why: string) => Error,
): Received {
  if (validation === 'Strict' && strictErrors.length > 0) {
    throw refuse(`strict decoding error: ${strictErrors.join(', ')}`);
  }
  return { object, warnings: validation === 'Warn' ? strictErrors : [] };
}

function refuseOtherKind(kind: Kind, body: JsonObject): void {
  const apiVersion = stringAt(body, 'apiVersion') || apiVersionOf(kind);
  const name = stringAt(body, 'kind') || kind.kind;
  if (apiVersion === apiVersionOf(kind) && name === kind.kind) return;
  throw badRequest(
    `${name} in version ${quoted(apiVersion)} cannot be handled as a ${kind.kind}: ${unknownKind(kind, name, apiVersion)}`,
  );
}

/** Kinds of the core group that clients are likely to send to the wrong path. */
const CORE_KINDS = new Set([
  'ConfigMap',
  'Event',
  'Namespace',
  'Node',
  'Pod',
  'Secret',
  'Service',
  'ServiceAccount',
]);

/** Why a body of one kind is not accepted for another. */
export function unknownKind(kind: Kind, name: string, apiVersion: string): string {
  if (apiVersion === 'v1' && CORE_KINDS.has(name)) {
    return `converting (v1.${name}) to (${internalTypeOf(kind)}): unknown conversion`;
  }
  return `no kind ${quoted(name)} is registered for version ${quoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}
