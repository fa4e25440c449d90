/** What tells one kind from another: defaults, validation, which fields can be selected, and how `kubectl get` shows it. */

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
  /** 0 is shown always, 1 only by `-o wide`. */
  readonly priority: 0 | 1;
}

export type Cell = string | number;

/** What may be written through: the object itself or one of the parts that have an address of their own. */
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
  /** Group that the server holds the kind in, which its 422s name. */
  readonly internalGroup: string;
  /** Fields at the top that a write through `subresource` cannot set, and so does not own. */
  resetFields(subresource: Subresource): readonly string[];
  /** Collection of the store; also the kind in `api-resources`' storage hash. */
  readonly collection: string;
  readonly nameRule: NameRule;
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate: boolean;
  /** An update without a resourceVersion overwrites whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** Fields that the server sets, and that a client's write may not. */
  prepareCreate(object: KubeObject): KubeObject;
  prepareUpdate(object: KubeObject, old: KubeObject, subresource: Subresource): KubeObject;
  /** What the server fills in, before ownership is decided and again after validation. */
  canonicalize(object: KubeObject): KubeObject;
  /** Whether something other than metadata.finalizers still keeps a deleted object. */
  heldBack(object: KubeObject): boolean;
  /** The object once its deletion has begun but has to wait. */
  beginDeletion(object: KubeObject, timestamp: string): KubeObject;
  validate(object: KubeObject): FieldError[];
  validateUpdate(object: KubeObject, old: KubeObject, subresource: Subresource): FieldError[];
  /** Maps a name in a field selector to the name that `fieldValue` knows; undefined when it is not supported. */
  selectableField(label: string): string | undefined;
  /** What is said of a field that is not. */
  unselectable(label: string): string;
  fieldValue(object: KubeObject, field: string): string;
  /** Between the stored form and this version's. */
  fromStored(object: KubeObject): KubeObject;
  toStored(object: KubeObject): KubeObject;
  readonly columns: readonly Column[];
  /** `object` is in stored form; `age` turns a timestamp into the time since, as `5m`. */
  cells(object: KubeObject, age: (timestamp: string | undefined) => string): readonly Cell[];
}

export const apiVersionOf = (kind: Pick<Kind, 'group' | 'version'>): string =>
  kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;

/** The type that a real server holds objects in: `core.ConfigMap`. */
export const internalTypeOf = ({ internalGroup, kind }: Kind): string =>
  `${internalGroup.replace(/\..*/, '') || 'core'}.${kind}`;

/** `configmaps`, as errors name it. */
export const resourceName = (kind: Kind): GroupName => ({ group: kind.group, name: kind.resource });

/** `ConfigMap`, as 422s name it. */
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

/** What most kinds do. */
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

/** What kinds with selectable fields of their own say. */
export const unsupportedLabel = (label: string): string => `field label not supported: ${label}`;

export function metaField(label: string): string | undefined {
  return label === 'metadata.name' || label === 'metadata.namespace' ? label : undefined;
}

export function metaFieldValue(object: KubeObject, field: string): string {
  return (field === 'metadata.name' ? object.metadata.name : object.metadata.namespace) ?? '';
}
