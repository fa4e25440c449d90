/**
 * What distinguishes one kind from another: defaults, validation, selectable fields, and its
 * columns in `kubectl get`.
 */

import { quoted } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import type { GroupName } from '../objects/status.ts';
import type { StructSchema } from '../schema/schema.ts';
import type { FieldError } from './field-errors.ts';
import type { NameRule } from './validation.ts';

export interface Column {
  readonly name: string;
  readonly description: string;
  readonly type: 'string';
  readonly format: '' | 'name';
  /** kubectl always shows columns of priority 0, and those of 1 with `-o wide`. */
  readonly priority: 0 | 1;
}

export type Cell = string | number;

/** The object itself, or a part of it with a path of its own. */
export type Subresource = '' | 'status' | 'finalize';

/** A kind as one API version serves it. Several may be views of one collection (Events). */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Plural name in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly subresources: readonly Exclude<Subresource, ''>[];
  readonly schema: StructSchema;
  /** The group that the server's internal type is in. 422s name it. */
  readonly internalGroup: string;
  /** Top-level fields that a write through `subresource` cannot set, and so does not own. */
  resetFields(subresource: Subresource): readonly string[];
  /** Collection of the store; also the kind in `api-resources`' storage hash. */
  readonly collection: string;
  readonly nameRule: NameRule;
  /** A PUT creates the object if it does not exist. */
  readonly createOnUpdate: boolean;
  /** An update without a resourceVersion overwrites any version. */
  readonly unconditionalUpdate: boolean;
  /** Sets the fields that clients cannot write. */
  prepareCreate(object: KubeObject): KubeObject;
  prepareUpdate(object: KubeObject, old: KubeObject, subresource: Subresource): KubeObject;
  /** Fills in defaults, before ownership is decided and again after validation. */
  canonicalize(object: KubeObject): KubeObject;
  /** Whether something other than metadata.finalizers still keeps a deleted object. */
  heldBack(object: KubeObject): boolean;
  /** The object once its deletion has begun but has to wait. */
  beginDeletion(object: KubeObject, timestamp: string): KubeObject;
  validate(object: KubeObject): FieldError[];
  validateUpdate(object: KubeObject, old: KubeObject, subresource: Subresource): FieldError[];
  /**
   * Maps a name in a field selector to the name that `fieldValue` knows; undefined when it is not
   * supported.
   */
  selectableField(label: string): string | undefined;
  /** The error for a field that is not supported. */
  unselectable(label: string): string;
  fieldValue(object: KubeObject, field: string): string;
  /** Conversion between the stored form and this version. */
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
  readonly columns: readonly Column[];
  /** `object` is in stored form; `age` turns a timestamp into an age such as `5m`. */
  cells(object: KubeObject, age: (timestamp: string | undefined) => string): readonly Cell[];
}

export const apiVersionOf = (kind: Pick<Kind, 'group' | 'version'>): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

/** The real server's internal type: `core.ConfigMap`. */
export const internalTypeOf = ({ internalGroup, kind }: Kind): string =>
  `${internalGroup.replace(/\..*/, '') || 'core'}.${kind}`;

/** `configmaps`, as in most errors. */
export const resourceName = (kind: Kind): GroupName => ({ group: kind.group, name: kind.resource });

/** `ConfigMap`, as in 422s. */
export const kindName = (kind: Kind): GroupName => ({ group: kind.internalGroup, name: kind.kind });

export const column = (
  name: string,
  description: string,
  options: Partial<Pick<Column, 'format' | 'priority'>> = {},
): Column => ({
  name,
  type: 'string',
  format: options.format ?? '',
  description,
  priority: options.priority ?? 0,
});

export const nameColumn = column(
  'Name',
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  { format: 'name' },
);
export const ageColumn = column(
  'Age',
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
);

/** What most kinds have in common. */
export const plainKind: Pick<
  Kind,
  | 'shortNames'
  | 'subresources'
  | 'internalGroup'
  | 'resetFields'
  | 'prepareCreate'
  | 'prepareUpdate'
  | 'canonicalize'
  | 'heldBack'
  | 'beginDeletion'
  | 'selectableField'
  | 'unselectable'
  | 'fieldValue'
  | 'fromStored'
  | 'toStored'
> = {
  shortNames: [],
  subresources: [],
  internalGroup: '',
  resetFields: () => [],
  prepareCreate: (object) => object,
  prepareUpdate: (object) => object,
  canonicalize: (object) => object,
  heldBack: () => false,
  beginDeletion: (object, timestamp) =>
    withMeta(object, { deletionTimestamp: timestamp, deletionGracePeriodSeconds: 0 }),
  selectableField: metaField,
  unselectable: (label) =>
    `${quoted(label)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  fieldValue: metaFieldValue,
  fromStored: (object) => object,
  toStored: (object) => object,
};

/** The `unselectable` of kinds with selectable fields of their own. */
export const unsupportedLabel = (label: string): string => `field label not supported: ${label}`;

export function metaField(label: string): string | undefined {
  return label === 'metadata.name' || label === 'metadata.namespace' ? label : undefined;
}

export function metaFieldValue(object: KubeObject, field: string): string {
  return (field === 'metadata.name' ? object.metadata.name : object.metadata.namespace) ?? '';
}
