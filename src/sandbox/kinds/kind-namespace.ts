import { listAt, objectAt, stringAt, withMembers } from '../objects/json.ts';
import { fieldOf, type KubeObject, toJson, withField, withMeta } from '../objects/kube-object.ts';
import { namespaceSchema } from '../schema/object-schemas.ts';
import { type FieldError, invalid } from './field-errors.ts';
import { dnsLabelProblems, labelKeyProblems } from './formats.ts';
import {
  ageColumn,
  column,
  type Kind,
  metaField,
  metaFieldValue,
  nameColumn,
  plainKind,
  unsupportedLabel,
} from './kinds.ts';
import { builtInMetaErrors, metaUpdateErrors, unqualifiedFinalizerErrors } from './validation.ts';

/** Finalizer in a namespace's spec that remains until the namespace is empty. */
export const KUBERNETES_FINALIZER = 'kubernetes';

export const phaseOf = (namespace: KubeObject): string =>
  stringAt(objectAt(toJson(namespace), 'status'), 'phase');

export const specFinalizersOf = (namespace: KubeObject): readonly string[] =>
  listAt(objectAt(toJson(namespace), 'spec'), 'finalizers').map(String);

export const withSpecFinalizers = (namespace: KubeObject, finalizers: readonly string[]): KubeObject =>
  withField(namespace, 'spec', finalizers.length === 0 ? {} : { finalizers });

export const namespaceKind: Kind = {
  ...plainKind,
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  subresources: ['status', 'finalize'],
  resetFields: (subresource) => [subresource === 'status' ? 'spec' : 'status'],
  schema: namespaceSchema,
  collection: 'namespaces',
  nameRule: dnsLabelProblems,
  createOnUpdate: false,
  unconditionalUpdate: true,
  prepareCreate: (object) => {
    const given = specFinalizersOf(object);
    const finalizers = given.includes(KUBERNETES_FINALIZER) ? given : [...given, KUBERNETES_FINALIZER];
    return withField(withSpecFinalizers(object, finalizers), 'status', { phase: 'Active' });
  },
  prepareUpdate: (object, old, subresource) => {
    const spec = subresource === 'finalize' ? object : old;
    const status = subresource === 'status' ? object : old;
    return withField(
      withField(object, 'spec', fieldOf(spec, 'spec') ?? {}),
      'status',
      fieldOf(status, 'status') ?? {},
    );
  },
  canonicalize: (object) => {
    if (!object.metadata.name) return object;
    const labels = withMembers(object.metadata.labels ?? {}, {
      'kubernetes.io/metadata.name': object.metadata.name,
    });
    const sorted = Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    return withMeta(object, { labels: sorted as Readonly<Record<string, string>> });
  },
  heldBack: (object) => specFinalizersOf(object).length > 0,
  beginDeletion: (object, timestamp) =>
    withField(withMeta(object, { deletionTimestamp: timestamp }), 'status', {
      ...objectAt(toJson(object), 'status'),
      phase: 'Terminating',
    }),
  validate,
  validateUpdate: (object, old, subresource) => [
    ...(subresource === '' ? validate(object) : []),
    ...metaUpdateErrors(object.metadata, old.metadata),
    ...(subresource === 'status' ? phaseErrors(object) : []),
    ...(subresource === 'finalize' ? finalizerErrors(object, (i) => `spec.finalizers[${i}]`) : []),
  ],
  unselectable: unsupportedLabel,
  selectableField: (label) => (label === 'status.phase' || label === 'name' ? label : metaField(label)),
  fieldValue: (object, field) => {
    if (field === 'status.phase') return phaseOf(object);
    return field === 'name' ? object.metadata.name : metaFieldValue(object, field);
  },
  columns: [nameColumn, column('Status', 'The status of the namespace'), ageColumn],
  cells: (object, age) => [object.metadata.name, phaseOf(object), age(object.metadata.creationTimestamp)],
};

function validate(object: KubeObject): FieldError[] {
  return [
    ...builtInMetaErrors(object.metadata, false, dnsLabelProblems),
    ...finalizerErrors(object, () => 'spec.finalizers'),
  ];
}

function finalizerErrors(namespace: KubeObject, path: (index: number) => string): FieldError[] {
  return specFinalizersOf(namespace).flatMap((finalizer, i) => [
    ...labelKeyProblems(finalizer).map((problem) => invalid(path(i), finalizer, problem)),
    ...unqualifiedFinalizerErrors(path(i), finalizer),
  ]);
}

function phaseErrors(object: KubeObject): FieldError[] {
  const deleting = object.metadata.deletionTimestamp !== undefined;
  const expected = deleting ? 'Terminating' : 'Active';
  if (phaseOf(object) === expected) return [];
  const when = deleting ? 'is not empty' : 'is empty';
  return [
    invalid('status.Phase', phaseOf(object), `may only be '${expected}' if \`deletionTimestamp\` ${when}`),
  ];
}
