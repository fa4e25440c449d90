/** Request bodies, from bytes to JSON. */
import { isObject, type Json, type JsonObject } from '../objects/json.ts';
import { ParseError, parseJson, parseYaml } from '../objects/json-text.ts';
import { badRequest, StatusError } from '../objects/status.ts';
import { decode } from '../schema/decode.ts';
import { DecodeError } from '../schema/decode-error.ts';
import { deleteOptionsSchema } from '../schema/meta-schemas.ts';
import type { StructSchema } from '../schema/schema.ts';
import type { PatchType } from '../verbs/patching.ts';
import { mediaTypeOf, unsupportedMediaType } from './media-type.ts';
import { fromProtobuf } from './protobuf.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** Number of bytes of a malformed body that an error shows. */
const SUMMARY_LENGTH = 256;
const ACCEPTED = ['application/json', 'application/yaml', PROTOBUF] as const;

/** The body of a write in any accepted form. Without a Content-Type it must be JSON. */
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

/** `null` counts as an empty object, as in Go. */
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

/** The decoded body of a DELETE. */
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

/** The start of a body as errors show it: text if it looks like an object, else hex. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, SUMMARY_LENGTH);
  const text = start.toString(start[0] === 0x7b ? 'utf8' : 'hex');
  return body.length > SUMMARY_LENGTH ? `${text} ...` : text;
}

const PATCH_TYPES = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = PATCH_TYPES.get(mediaTypeOf(contentType));
  if (!type) throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  return type;
}
