/**
 * The shape of API objects, for everything that needs it: decoding (types, unknown fields, order,
 * defaults of Go's encoder), strategic merge, field ownership and OpenAPI.
 */

export interface ScalarSchema {
  readonly type: 'string' | 'boolean' | 'int32' | 'int64' | 'bytes' | 'time' | 'microTime' | 'any';
  /** The Go type in messages of the decoder. Default: `type`. */
  readonly goType?: string;
}

/** A map from strings. Every key has an owner of its own. */
export interface MapSchema {
  readonly type: 'map';
  readonly values: ScalarSchema;
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: Schema;
  /**
   * How server-side apply merges it: as a whole, as a set of scalars or by the key fields of items.
   */
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** How a strategic merge patch merges it; absent: it replaces it. Scalars have no `key`. */
  readonly patchMerge?: { readonly key?: string };
}

export interface StructSchema {
  readonly type: 'struct';
  /** Go package and type, `v1.ObjectMeta`. */
  readonly goType: string;
  /** The name of its OpenAPI schema. */
  readonly definition: string;
  readonly description: string;
  readonly fields: readonly FieldSchema[];
  /** One manager owns the whole struct. */
  readonly atomic?: boolean;
}

export type Schema = ScalarSchema | MapSchema | ListSchema | StructSchema;

export interface FieldSchema {
  readonly name: string;
  /** Number of the field in protobuf; 0 for a field of the envelope. */
  readonly tag: number;
  readonly schema: Schema;
  readonly description: string;
  /**
   * What Go's encoder does with the zero value: `omit` drops it, `keep` writes it (no `omitempty`,
   * or a struct or time, which is never empty), `pointer` drops the field only if it was not given.
   */
  readonly zero: 'omit' | 'keep' | 'pointer';
  readonly required?: boolean;
}

export const text: ScalarSchema = { type: 'string' };
export const bool: ScalarSchema = { type: 'boolean', goType: 'bool' };
export const int32: ScalarSchema = { type: 'int32' };
export const int64: ScalarSchema = { type: 'int64' };
export const bytes: ScalarSchema = { type: 'bytes', goType: '[]uint8' };
export const time: ScalarSchema = { type: 'time', goType: 'string' };
export const microTime: ScalarSchema = { type: 'microTime', goType: 'string' };
export const anything: ScalarSchema = { type: 'any' };
export const named = (goType: string): ScalarSchema => ({ type: 'string', goType });
export const mapOf = (values: ScalarSchema): MapSchema => ({ type: 'map', values });
export const atomicList = (items: Schema): ListSchema => ({ type: 'list', items, listType: 'atomic' });

export function goTypeOf(schema: Schema): string {
  switch (schema.type) {
    case 'struct':
      return schema.goType;
    case 'map':
      return `map[string]${goTypeOf(schema.values)}`;
    case 'list':
      return `[]${goTypeOf(schema.items)}`;
    default:
      return schema.goType ?? schema.type;
  }
}

type FieldOptions = Partial<Pick<FieldSchema, 'zero' | 'required'>>;

export const field = (
  name: string,
  tag: number,
  schema: Schema,
  description: string,
  options: FieldOptions = {},
): FieldSchema => ({ name, tag, schema, description, zero: 'omit', ...options });

export const typeMeta: readonly FieldSchema[] = [
  field('kind', 0, text, 'The kind of this object.'),
  field('apiVersion', 0, text, 'The version of the schema of this object.'),
];
