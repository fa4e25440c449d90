/**
 * Decodes Kubernetes' protobuf encoding to JSON. kubectl's typed commands (`create configmap`,
 * `auth can-i`) send it since 1.32, and accept answers in JSON. Encoding: k8s.io/apimachinery
 * pkg/runtime/serializer/protobuf; field numbers are in the schemas.
 */
import { type Json, type JsonObject, objectOf } from '../objects/json.ts';
import { badRequest } from '../objects/status.ts';
import type { ScalarSchema, Schema, StructSchema } from '../schema/schema.ts';

/** First bytes of every body; a `runtime.Unknown` follows. */
const MAGIC = Buffer.from('k8s\0');

/** A value on the wire: a number, or the bytes of anything else. */
type Wire = bigint | Buffer;

/** The object in `body`, with kind and apiVersion from its envelope. */
export function fromProtobuf(schema: StructSchema, body: Buffer): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00');
  }
  const envelope = group(readFields(body.subarray(MAGIC.length)));
  const typeMeta = group(readFields(bytesOf(envelope.get(1)?.[0])));
  return {
    ...readStruct(schema, bytesOf(envelope.get(2)?.[0])),
    apiVersion: bytesOf(typeMeta.get(1)?.[0]).toString(),
    kind: bytesOf(typeMeta.get(2)?.[0]).toString(),
  };
}

const malformed = () => badRequest('the body of the request is not valid protobuf');

const bytesOf = (value: Wire | undefined): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));

function group(fields: readonly (readonly [number, Wire])[]): ReadonlyMap<number, readonly Wire[]> {
  const grouped = new Map<number, Wire[]>();
  for (const [tag, value] of fields) grouped.set(tag, [...(grouped.get(tag) ?? []), value]);
  return grouped;
}

function readFields(message: Buffer): readonly (readonly [number, Wire])[] {
  const fields: [number, Wire][] = [];
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[offset++];
      if (byte === undefined || shift > 63n) throw malformed();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const slice = (length: number): Buffer => {
    if (offset + length > message.length) throw malformed();
    offset += length;
    return message.subarray(offset - length, offset);
  };
  while (offset < message.length) {
    const key = Number(varint());
    const tag = key >>> 3;
    switch (key & 7) {
      case 0:
        fields.push([tag, varint()]);
        break;
      case 1:
        fields.push([tag, slice(8)]);
        break;
      case 2:
        fields.push([tag, slice(Number(varint()))]);
        break;
      case 5:
        fields.push([tag, slice(4)]);
        break;
      default:
        throw malformed();
    }
  }
  return fields;
}

function readStruct(schema: StructSchema, message: Buffer): JsonObject {
  const fields = group(readFields(message));
  return objectOf(
    schema.fields.flatMap((field) => {
      const values = fields.get(field.tag);
      return values === undefined || field.tag === 0
        ? []
        : [[field.name, readValue(field.schema, values)] as const];
    }),
  );
}

/**
 * `values` are all occurrences of the field: the items of a list, the entries of a map; else the
 * last one counts.
 */
function readValue(schema: Schema, values: readonly Wire[]): Json {
  switch (schema.type) {
    case 'list':
      return values.map((value) => readValue(schema.items, [value]));
    case 'map':
      return objectOf(values.map((value) => readEntry(schema.values, bytesOf(value))));
    case 'struct':
      return readStruct(schema, bytesOf(values.at(-1)));
    default:
      return readScalar(schema, values.at(-1) ?? 0n);
  }
}

function readEntry(schema: ScalarSchema, message: Buffer): readonly [string, Json] {
  const entry = group(readFields(message));
  return [bytesOf(entry.get(1)?.[0]).toString(), readScalar(schema, entry.get(2)?.[0] ?? Buffer.alloc(0))];
}

function readScalar(schema: ScalarSchema, value: Wire): Json {
  switch (schema.type) {
    case 'string':
      return bytesOf(value).toString();
    case 'bytes':
      return bytesOf(value).toString('base64');
    case 'boolean':
      return value === 1n;
    case 'int32':
    case 'int64':
      return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
    case 'time':
    case 'microTime':
      return readTime(bytesOf(value), schema.type === 'microTime');
    case 'any':
      return readRawJson(bytesOf(value));
  }
}

/** Seconds and nanoseconds since the epoch; an empty message is the zero time. */
function readTime(message: Buffer, micros: boolean): Json {
  if (message.length === 0) return null;
  const fields = group(readFields(message));
  const number = (tag: number): number => {
    const value = fields.get(tag)?.[0];
    return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
  };
  const date = new Date(number(1) * 1000);
  if (Number.isNaN(date.getTime())) throw malformed();
  const seconds = date.toISOString().slice(0, 19);
  const fraction = String(Math.trunc(number(2) / 1000)).padStart(6, '0');
  return micros ? `${seconds}.${fraction}Z` : `${seconds}Z`;
}

/** FieldsV1: JSON text inside a message. */
function readRawJson(message: Buffer): Json {
  const text = bytesOf(group(readFields(message)).get(1)?.[0]).toString();
  try {
    return JSON.parse(text === '' ? '{}' : text) as Json;
  } catch {
    throw malformed();
  }
}
