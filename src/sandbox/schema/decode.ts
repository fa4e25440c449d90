/**
 * From the JSON that a client sends to the API server's object: typed, in the order of Go's
 * structs, with sorted map keys, without empty and unknown fields. Two objects are the same exactly
 * when their decoded texts are.
 */
import {
  byCodeUnit,
  isList,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  quoted,
} from '../objects/json.ts';
import { DecodeError, type Place, unmarshalError, wrongType } from './decode-error.ts';
import { normaliseBase64, normaliseMicroTime, normaliseTime, ScalarError } from './scalars.ts';
import type { FieldSchema, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from './schema.ts';

export interface Decoded {
  readonly object: JsonObject;
  /** Errors of strict decoding: `unknown field "spec.foo"`. */
  readonly strictErrors: readonly string[];
}

export function decode(schema: StructSchema, value: Json): Decoded {
  const strictErrors: string[] = [];
  const root: Place = { path: '', goPath: [], structName: '', strictErrors };
  return { object: decodeStruct(schema, value, root), strictErrors };
}

/** The decoded value, or undefined for one that the encoder would leave out. */
function decodeValue(schema: Schema, value: Json, place: Place): Json {
  switch (schema.type) {
    case 'struct':
      return decodeStruct(schema, value, place);
    case 'map':
      return decodeMap(schema, value, place);
    case 'list':
      return decodeList(schema, value, place);
    default:
      return decodeScalar(schema, value, place);
  }
}

function decodeStruct(schema: StructSchema, value: Json, place: Place): JsonObject {
  if (value !== null && !isObject(value)) throw wrongType(value, schema, place);
  const decoded = new Map<string, Json | undefined>();
  // In the order of the document, which is also the order of the strict errors.
  for (const [key, member] of Object.entries(value ?? {})) {
    const field = schema.fields.find(({ name }) => name === key);
    if (field) decoded.set(key, decodeField(field, member, schema, place));
    else place.strictErrors.push(`unknown field ${quoted(place.path === '' ? key : `${place.path}.${key}`)}`);
  }
  const entries: [string, Json][] = [];
  for (const field of schema.fields) {
    const member = decoded.get(field.name) ?? absentValue(field);
    if (member !== undefined) entries.push([field.name, member]);
  }
  return objectOf(entries);
}

const absentValue = (field: FieldSchema): Json | undefined =>
  field.zero === 'keep' ? zeroOf(field.schema) : undefined;

function decodeField(field: FieldSchema, value: Json, parent: StructSchema, place: Place): Json | undefined {
  if (value === null) return undefined;
  const decoded = decodeValue(field.schema, value, {
    path: place.path === '' ? field.name : `${place.path}.${field.name}`,
    goPath: [...place.goPath, field.name],
    structName: parent.goType.slice(parent.goType.indexOf('.') + 1),
    strictErrors: place.strictErrors,
  });
  return field.zero === 'omit' && isZero(decoded) ? undefined : decoded;
}

const isZero = (value: Json): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === null ||
  (isList(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

function zeroOf(schema: Schema): Json {
  switch (schema.type) {
    case 'struct':
      return decode(schema, {}).object;
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
      return 0;
    default:
      return null;
  }
}

function decodeMap(schema: MapSchema, value: Json, place: Place): JsonObject {
  if (!isObject(value)) throw wrongType(value, schema, place);
  const keys = Object.keys(value).sort(byCodeUnit);
  return objectOf(
    keys.map((key) => {
      const member = value[key];
      const empty = member === null || member === undefined;
      const entry = { ...place, path: `${place.path}.${key}` };
      return [key, empty ? '' : decodeScalar(schema.values, member, entry)] as const;
    }),
  );
}

function decodeList(schema: ListSchema, value: Json, place: Place): Json {
  if (!isList(value)) throw wrongType(value, schema, place);
  return value.map((item, i) => decodeValue(schema.items, item, { ...place, path: `${place.path}[${i}]` }));
}

function decodeScalar(schema: ScalarSchema, value: Json, place: Place): Json {
  switch (schema.type) {
    case 'any':
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw wrongType(value, schema, place);
      return value;
    case 'int32':
    case 'int64':
      return decodeInteger(schema, value, place);
    default:
      if (typeof value !== 'string') throw wrongType(value, schema, place);
      return decodeText(schema.type, value, place);
  }
}

function decodeInteger(schema: ScalarSchema, value: Json, place: Place): number {
  if (typeof value !== 'number') throw wrongType(value, schema, place);
  const limit = schema.type === 'int32' ? 2 ** 31 : 2 ** 63;
  if (!Number.isInteger(value) || value >= limit || value < -limit) {
    throw unmarshalError(`number ${JSON.stringify(value)}`, value, schema, place);
  }
  return value;
}

function decodeText(type: 'string' | 'bytes' | 'time' | 'microTime', value: string, place: Place): string {
  try {
    switch (type) {
      case 'string':
        return value;
      case 'bytes':
        return normaliseBase64(value);
      case 'time':
        return normaliseTime(value);
      case 'microTime':
        return normaliseMicroTime(value);
    }
  } catch (error) {
    if (error instanceof ScalarError) {
      const { message } = error;
      throw new DecodeError(message, { conversion: message, typed: `.${place.path}: ${message}` });
    }
    throw error;
  }
}
