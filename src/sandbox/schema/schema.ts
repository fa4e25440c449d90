/**
 * What shape an API object has, written once and used for everything that needs it: decoding (types, unknown
 * fields, order, defaults of Go's encoder), strategic merge, field ownership, and the published OpenAPI.
 */

export interface ScalarSchema {
  readonly type: 'string' | 'boolean' | 'int32' | 'int64' | 'bytes' | 'time' | 'microTime' | 'any';
  /** The Go type that messages of the decoder name; default as `type`. */
  readonly goType?: string;
}

/** A map from strings: every key has an owner of its own. */
export interface MapSchema {
  readonly type: 'map';
  readonly values: ScalarSchema;
}

export interface ListSchema {
  readonly type: 'list';
  readonly items: Schema;
  /** How server-side apply merges it: as a whole, as a set of scalars, or by the key fields of its items. */
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  /** How a strategic merge patch merges it; absent replaces. `key` is absent for scalars. */
  readonly patchMerge?: { readonly key?: string };
}

export interface StructSchema {
  readonly type: 'struct';
  /** Go package and type, `v1.ObjectMeta`. */
  readonly goType: string;
  /** Name among the OpenAPI definitions. */
  readonly definition: string;
  readonly description: string;
  readonly fields: readonly FieldSchema[];
  /** Owned as a whole by whoever set it. */
  readonly atomic?: boolean;
}

export type Schema = ScalarSchema | MapSchema | ListSchema | StructSchema;

export interface FieldSchema {
  readonly name: string;
  /** Number of the field in the protobuf encoding; 0 for what the envelope carries. */
  readonly tag: number;
  readonly schema: Schema;
  readonly description: string;
  /**
   * What Go's encoder does with the zero value: `omit` leaves it out, `keep` writes it (no `omitempty`, or a
   * struct or time that is never empty), `pointer` leaves out only what was not given.
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
