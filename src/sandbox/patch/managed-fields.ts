/**
 * Who owns which fields of an object: metadata.managedFields, KEP-555 (k8s.io/apimachinery
 * pkg/util/managedfields). Unlike there, entries of other API versions are not converted, and their
 * number is not limited.
 */

import { byCodeUnit, equal, type Json } from '../objects/json.ts';
import { type KubeObject, type ManagedFieldsEntry, toJson, withMeta } from '../objects/kube-object.ts';
import type { StructSchema } from '../schema/schema.ts';
import {
  difference,
  type FieldSet,
  fromFieldsV1,
  isEmpty,
  noFields,
  toFieldsV1,
  union,
  without,
} from './field-set.ts';
import { compare } from './typed-value.ts';

export interface Manager {
  readonly name: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** Top-level fields that this manager's write cannot set. */
  readonly resetFields: readonly string[];
}

/** An entry with its fields as a set. */
export interface Owned {
  readonly entry: ManagedFieldsEntry;
  readonly set: FieldSet;
}

/** System fields, which nobody owns. */
const UNOWNED = [
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
];

/** `set` without the fields that nobody, or not this manager, can own. */
export const strip = (set: FieldSet, manager: Manager): FieldSet => {
  const reset = manager.resetFields.map((name) => [`f:${name}`]);
  const stripped = [...UNOWNED, ...reset].reduce(without, set);
  const metadata = stripped.children.get('f:metadata');
  return metadata?.member && metadata.children.size === 0 ? without(stripped, ['f:metadata']) : stripped;
};

/** For an apply, the API version makes no difference. */
const isOf = (manager: Manager, entry: ManagedFieldsEntry): boolean =>
  entry.manager === manager.name &&
  entry.operation === manager.operation &&
  (entry.subresource ?? '') === manager.subresource &&
  (manager.operation === 'Apply' || entry.apiVersion === manager.apiVersion);

/**
 * All entries in the server's order, with `own` as the fields of `manager`. `time`: of its last
 * write that changed the object; absent when it has only applied what was there already.
 */
export function write(
  others: readonly Owned[],
  own: FieldSet,
  manager: Manager,
  time: string | undefined,
): readonly ManagedFieldsEntry[] {
  const entry: ManagedFieldsEntry = {
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(own),
    ...(manager.subresource === '' ? {} : { subresource: manager.subresource }),
  };
  const all = [...others, { entry, set: own }].filter(({ set }) => !isEmpty(set));
  return all
    .map(({ entry: old, set }) => ({ ...old, fieldsV1: toFieldsV1(set) }))
    .sort(
      (a, b) =>
        byCodeUnit(a.operation ?? '', b.operation ?? '') ||
        byCodeUnit(a.time ?? '', b.time ?? '') ||
        byCodeUnit(a.manager ?? '', b.manager ?? '') ||
        byCodeUnit(a.apiVersion ?? '', b.apiVersion ?? '') ||
        byCodeUnit(a.subresource ?? '', b.subresource ?? ''),
    );
}

/**
 * The entries once `manager` has replaced `before` (absent on create) by `after`: it now owns what
 * it changed. A client may also write entries. An update to an empty list, or to a single empty
 * entry, clears them all; then only an apply starts tracking again.
 */
export function entriesAfterUpdate(
  schema: StructSchema,
  before: KubeObject | undefined,
  after: KubeObject,
  empty: KubeObject,
  manager: Manager,
  now: string,
): readonly ManagedFieldsEntry[] {
  const present = before?.metadata.managedFields ?? [];
  const given = after.metadata.managedFields ?? present;
  const isCleared = given.length === 1 && Object.keys(given[0] ?? {}).length === 0;
  const usable = given.every(isValid) ? given : present;
  const entries = isCleared ? [] : usable;
  if (before && entries.length === 0) return [];
  return afterChange(schema, before ?? empty, after, entries, manager, now);
}

const isValid = (entry: ManagedFieldsEntry): boolean =>
  (entry.operation === 'Update' || entry.operation === 'Apply') &&
  entry.fieldsType === 'FieldsV1' &&
  entry.apiVersion !== undefined;

/** `entries` once `manager` has replaced `before` by `after`. */
export function afterChange(
  schema: StructSchema,
  before: KubeObject,
  after: KubeObject,
  entries: readonly ManagedFieldsEntry[],
  manager: Manager,
  now: string,
): readonly ManagedFieldsEntry[] {
  const comparison = compare(schema, toJson(before), toJson(after));
  const changed = strip(comparison.changed, manager);
  const removed = strip(comparison.removed, manager);
  const { own, others } = split(entries, manager);
  const left = others.map(({ entry, set }) => ({
    entry,
    set: difference(difference(set, changed), removed),
  }));
  const owned = union(difference(own?.set ?? noFields, removed), changed);
  return write(left, owned, manager, isEmpty(changed) ? own?.entry.time : now);
}

/** `object` with these entries; without the field when there are none. */
export const withEntries = (object: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject =>
  withMeta(object, { managedFields: entries.length === 0 ? undefined : entries });

/** The entry of `manager`, and those of everybody else. */
export function split(
  entries: readonly ManagedFieldsEntry[],
  manager: Manager,
): { readonly own: Owned | undefined; readonly others: readonly Owned[] } {
  const all = entries.map((entry) => ({ entry, set: fromFieldsV1(entry.fieldsV1) }));
  const own = all.find(({ entry }) => isOf(manager, entry));
  return { own, others: all.filter((owned) => owned !== own) };
}

/** Whether two objects differ in nothing but the times of their managedFields entries. */
export function sameButForTimes(a: KubeObject, b: KubeObject): boolean {
  const timeless = (object: KubeObject): Json => ({
    ...toJson(object),
    metadata: {
      ...(toJson(object)['metadata'] as Record<string, Json>),
      managedFields: (object.metadata.managedFields ?? []).map(({ time: _, ...rest }) => rest as Json),
    },
  });
  return equal(timeless(a), timeless(b));
}
