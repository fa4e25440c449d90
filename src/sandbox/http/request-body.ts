/** Bodies: from text to an object of the kind that the path asks for. */
import { load } from 'js-yaml';
import { apiVersionOf, internalTypeOf, type Kind } from '../kinds/kinds.ts';
import { isObject, type Json, type JsonObject, quoted, stringAt } from '../objects/json.ts';
import { type KubeObject, toObject } from '../objects/kube-object.ts';
import { badRequest } from '../objects/status.ts';
import { DecodeError, decode } from '../schema/decode.ts';
import { deleteOptionsSchema } from '../schema/meta-schemas.ts';
import type { StructSchema } from '../schema/schema.ts';
import type { FieldValidation } from '../verbs/write-options.ts';
import { mediaTypeOf, unsupportedMediaType } from './media-type.ts';
import { fromProtobuf } from './protobuf.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** Bytes of a bad body that an error shows. */
const SUMMARY_LENGTH = 256;
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF] as const;

/** The JSON of a body in any form that is taken for writes. An absent Content-Type is taken for JSON. */
export function parseBody(schema: StructSchema, body: Buffer, contentType: string | undefined): Json {
  switch (mediaTypeOf(contentType)) {
    case '':
    case 'application/json':
      return requireObject(schema, body, () => parseJson(body.toString()));
    case 'application/yaml':
      return requireObject(schema, body, () => parseYaml(body.toString()));
    case PROTOBUF:
      return fromProtobuf(schema, body);
    default:
      throw unsupportedMediaType(ACCEPTED);
  }
}

/** Throws what Go's parser says, as far as that can be told from JavaScript's. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const token = /^Unexpected token '(.)'/su.exec((error as Error).message)?.[1];
    throw new ParseError(
      token === undefined
        ? 'unexpected end of JSON input'
        : `invalid character '${token}' looking for beginning of value`,
    );
  }
}

export function parseYaml(text: string): Json {
  try {
    return (load(text) ?? null) as Json;
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new ParseError(`error converting YAML to JSON: ${asGoYaml(reason)}`);
  }
}

/** The commonest mistake in the words of Go's parser; the others as ours says it. */
function asGoYaml(reason: string): string {
  const unfinished = /^unexpected end of the stream within a flow collection \((\d+)/.exec(reason);
  return unfinished ? `yaml: line ${unfinished[1]}: did not find expected node content` : reason;
}

/** A text that is not in the form that it should be. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
}

/** `null` counts as an object with nothing in it, as in Go. */
function requireObject(schema: StructSchema, body: Buffer, parse: () => Json): JsonObject {
  try {
    return objectFrom(parse());
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const type = schema.goType.replace(/^.*\./, '');
    throw badRequest(
      `the object provided is unrecognized (must be of type ${type}): couldn't get version/kind; json parse error: ${error.message} (${summaryOf(body)})`,
    );
  }
}

function objectFrom(value: Json): JsonObject {
  if (value === null) return {};
  if (isObject(value)) return value;
  throw new ParseError(
    `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );
}

/** The body of a DELETE, typed. */
export function receiveDeleteOptions(body: Buffer, contentType: string | undefined): JsonObject {
  try {
    const options =
      mediaTypeOf(contentType) === PROTOBUF
        ? fromProtobuf(deleteOptionsSchema, body)
        : objectFrom(parseYamlOrJson(body, contentType));
    return decode(deleteOptionsSchema, options).object;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    if (!(error instanceof ParseError)) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
  }
}

const parseYamlOrJson = (body: Buffer, contentType: string | undefined): Json =>
  mediaTypeOf(contentType) === 'application/yaml' ? parseYaml(body.toString()) : parseJson(body.toString());

/** The start of a body as errors show it: text when it looks like an object, else hex. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, SUMMARY_LENGTH);
  const text = start.toString(start[0] === 0x7b ? 'utf8' : 'hex');
  return body.length > SUMMARY_LENGTH ? `${text} ...` : text;
}

export interface Received {
  /** In the form of the request's version. */
  readonly object: KubeObject;
  /** What the client is warned of: fields that were dropped. */
  readonly warnings: readonly string[];
}

/** The object in a create or update. Kind and apiVersion may be left out, but must be right when they are there. */
export function receive(kind: Kind, given: Json, validation: FieldValidation): Received {
  const place = `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
  const body = isObject(given) ? given : {};
  refuseOtherKind(kind, body);
  try {
    const { object, strictErrors } = decodeAs(kind, body);
    if (validation === 'Strict' && strictErrors.length > 0) {
      throw badRequest(`${place}: strict decoding error: ${strictErrors.join(', ')}`);
    }
    return { object, warnings: validation === 'Warn' ? strictErrors : [] };
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`${place}: ${error.message}`);
    throw error;
  }
}

function refuseOtherKind(kind: Kind, body: JsonObject): void {
  const apiVersion = stringAt(body, 'apiVersion') || apiVersionOf(kind);
  const name = stringAt(body, 'kind') || kind.kind;
  if (apiVersion === apiVersionOf(kind) && name === kind.kind) return;
  throw badRequest(
    `${name} in version ${quoted(apiVersion)} cannot be handled as a ${kind.kind}: ${unknownKind(kind, name, apiVersion)}`,
  );
}

/** Kinds of the core group that are likely to be sent to the wrong place. */
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

/** Why a body of one kind is not taken for another. */
export function unknownKind(kind: Kind, name: string, apiVersion: string): string {
  if (apiVersion === 'v1' && CORE_KINDS.has(name)) {
    return `converting (v1.${name}) to (${internalTypeOf(kind)}): unknown conversion`;
  }
  return `no kind ${quoted(name)} is registered for version ${quoted(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

/** `json` decoded by the kind's schema, whatever kind it says it is. Throws `DecodeError`. */
export function decodeAs(
  kind: Kind,
  json: Json,
): { readonly object: KubeObject; readonly strictErrors: readonly string[] } {
  const { object, strictErrors } = decode(kind.schema, json);
  const { kind: _kind, apiVersion: _apiVersion, ...members } = object;
  return {
    object: toObject({ kind: kind.kind, apiVersion: apiVersionOf(kind), ...members } as JsonObject),
    strictErrors,
  };
}
