import type { Json, JsonObject } from './json.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** A decoded API object: its fields have the types that its schema defines. */
export interface KubeObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
}

/** The object as plain JSON. */
export const toJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** Decoded JSON as an object. */
export const toObject = (json: JsonObject): KubeObject => json as unknown as KubeObject;

/** The member `key` of an object (`data`, `spec`, …). */
export const fieldOf = (object: KubeObject, key: string): Json | undefined => toJson(object)[key];

/** The fields in the order of Go's struct, in which the server writes them. */
const META_ORDER: readonly (keyof ObjectMeta)[] = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
];

/** A copy with other metadata, in canonical order; a change to undefined removes the field. */
export function withMeta(
  object: KubeObject,
  changes: { readonly [Key in keyof ObjectMeta]?: ObjectMeta[Key] | undefined },
): KubeObject {
  const merged: Readonly<Record<string, unknown>> = { ...object.metadata, ...changes };
  const metadata: Record<string, unknown> = {};
  for (const key of META_ORDER) {
    if (merged[key] !== undefined) metadata[key] = merged[key];
  }
  return { ...object, metadata: metadata as unknown as ObjectMeta };
}

/** A copy with the member `key` changed; the order of members is kept. */
export const withField = (object: KubeObject, key: string, value: Json): KubeObject =>
  toObject({ ...toJson(object), [key]: value });
