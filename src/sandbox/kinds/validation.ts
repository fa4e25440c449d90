/** Validation of metadata, in the order of k8s.io/apimachinery pkg/api/validation/objectmeta.go. */

import { byCodeUnit, equal, type Json } from '../objects/json.ts';
import type { ObjectMeta, OwnerReference } from '../objects/kube-object.ts';
import { type FieldError, forbiddenField, invalid, required, tooLong } from './field-errors.ts';
import { dnsLabelProblems, labelKeyProblems, labelValueProblems } from './formats.ts';

/** Returns the problems of a name. */
export type NameRule = (name: string) => readonly string[];

/** Maximum size (bytes) of an object's annotations, keys and values together. */
const ANNOTATIONS_LIMIT = 256 * 1024;

const STANDARD_FINALIZERS: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion'];
const IMMUTABLE = 'field is immutable';
const each = (field: string, value: Json, problems: readonly string[]): FieldError[] =>
  problems.map((problem) => invalid(field, value, problem));

/** The rules for every write. `namespaced`: whether the kind is. */
export function metaErrors(meta: ObjectMeta, namespaced: boolean, nameRule: NameRule): FieldError[] {
  return [
    // The server adds a suffix and checks the whole name later, so a trailing dash is valid here.
    ...each(
      'metadata.generateName',
      meta.generateName ?? '',
      meta.generateName ? nameRule(maskTrailingDash(meta.generateName)) : [],
    ),
    ...(meta.name
      ? each('metadata.name', meta.name, nameRule(meta.name))
      : [required('metadata.name', 'name or generateName is required')]),
    ...(namespaced && meta.namespace
      ? each('metadata.namespace', meta.namespace, dnsLabelProblems(meta.namespace))
      : []),
    ...labelErrors(meta),
    ...annotationErrors(meta),
    ...ownerErrors(meta.ownerReferences ?? []),
    ...finalizerErrors(meta.finalizers ?? []),
  ];
}

const maskTrailingDash = (prefix: string): string =>
  prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;

/**
 * `metaErrors`, and the rule of built-in kinds: all finalizers but the standard ones need a domain.
 */
export const builtInMetaErrors = (
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
): FieldError[] => [
  ...metaErrors(meta, namespaced, nameRule),
  ...(meta.finalizers ?? []).flatMap((finalizer, i) =>
    unqualifiedFinalizerErrors(`metadata.finalizers[${i}]`, finalizer),
  ),
];

export function unqualifiedFinalizerErrors(field: string, finalizer: string): FieldError[] {
  if (finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)) return [];
  return [invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')];
}

/** The additional rules for an update of `old`. */
export function metaUpdateErrors(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const immutable = (name: keyof ObjectMeta, value: Json | undefined, before: Json | undefined) =>
    equal(value, before) ? [] : [invalid(`metadata.${name}`, value ?? null, IMMUTABLE)];
  return [
    ...(old.deletionTimestamp === undefined ? [] : newFinalizerErrors(meta, old)),
    ...(meta.resourceVersion
      ? []
      : [invalid('metadata.resourceVersion', '', 'must be specified for an update')]),
    ...immutable('name', meta.name, old.name),
    ...immutable('namespace', meta.namespace, old.namespace),
    ...immutable('uid', meta.uid, old.uid),
    ...immutable('creationTimestamp', meta.creationTimestamp, old.creationTimestamp),
    ...immutable('deletionTimestamp', meta.deletionTimestamp, old.deletionTimestamp),
    ...immutable(
      'deletionGracePeriodSeconds',
      meta.deletionGracePeriodSeconds,
      old.deletionGracePeriodSeconds,
    ),
    ...labelErrors(meta),
    ...annotationErrors(meta),
    ...ownerErrors(meta.ownerReferences ?? []),
  ];
}

function labelErrors(meta: ObjectMeta): FieldError[] {
  return sortedEntries(meta.labels).flatMap(([key, value]) => [
    ...each('metadata.labels', key, labelKeyProblems(key)),
    ...each('metadata.labels', value, labelValueProblems(value)),
  ]);
}

function annotationErrors(meta: ObjectMeta): FieldError[] {
  const entries = sortedEntries(meta.annotations);
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...entries.flatMap(([key]) => each('metadata.annotations', key, labelKeyProblems(key.toLowerCase()))),
    ...(size > ANNOTATIONS_LIMIT ? [tooLong('metadata.annotations', ANNOTATIONS_LIMIT)] : []),
  ];
}

/**
 * Sorted, so that the same mistakes give the same message (Go iterates over maps in random order).
 */
const sortedEntries = (map: Readonly<Record<string, string>> | undefined): readonly [string, string][] =>
  Object.entries(map ?? {}).sort(([a], [b]) => byCodeUnit(a, b));

function ownerErrors(owners: readonly OwnerReference[]): FieldError[] {
  const errors = owners.flatMap(ownerReferenceErrors);
  const [first, ...others] = owners.filter((owner) => owner.controller === true);
  for (const other of others) {
    errors.push(
      invalid(
        'metadata.ownerReferences',
        owners as unknown as Json,
        `Only one reference can have Controller set to true. Found "true" in references for ${first?.kind}/${first?.name} and ${other.kind}/${other.name}`,
      ),
    );
  }
  return errors;
}

function ownerReferenceErrors(owner: OwnerReference): FieldError[] {
  const path = 'metadata.ownerReferences';
  const nonEmpty = (name: 'kind' | 'name' | 'uid') =>
    owner[name] ? [] : [invalid(`${path}.${name}`, owner[name], 'must not be empty')];
  return [
    ...(/^([^/]*\/)?[^/]+$/.test(owner.apiVersion)
      ? []
      : [invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty')]),
    ...nonEmpty('kind'),
    ...nonEmpty('name'),
    ...nonEmpty('uid'),
    ...(owner.apiVersion === 'v1' && owner.kind === 'Event'
      ? [invalid(path, owner as unknown as Json, '/v1, Kind=Event is disallowed from being an owner')]
      : []),
  ];
}

function finalizerErrors(finalizers: readonly string[]): FieldError[] {
  const path = 'metadata.finalizers';
  const both = finalizers.includes('orphan') && finalizers.includes('foregroundDeletion');
  return [
    ...finalizers.flatMap((finalizer) => each(path, finalizer, labelKeyProblems(finalizer))),
    ...(both
      ? [invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
  ];
}

function newFinalizerErrors(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const added = (meta.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return [];
  const list = `[]string{${added
    .sort(byCodeUnit)
    .map((finalizer) => JSON.stringify(finalizer))
    .join(', ')}}`;
  return [
    forbiddenField(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
    ),
  ];
}

/** The error of an update that changes an immutable field. */
export const immutableError = (field: string, value: Json, before: Json): FieldError[] =>
  equal(value, before) ? [] : [invalid(field, value, IMMUTABLE)];
