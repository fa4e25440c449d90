import { memberAt, objectAt, stringAt, withMembers } from '../objects/json.ts';
import { type KubeObject, toJson, withField } from '../objects/kube-object.ts';
import { leaseSchema } from '../schema/object-schemas.ts';
import { type FieldError, invalid } from './field-errors.ts';
import { dnsSubdomainProblems } from './formats.ts';
import { ageColumn, column, type Kind, nameColumn, plainKind } from './kinds.ts';
import { builtInMetaErrors, metaUpdateErrors } from './validation.ts';

const specOf = (lease: KubeObject) => objectAt(toJson(lease), 'spec');

/** Drops the fields of the feature gate CoordinatedLeaderElection, which is off by default. */
const withoutCoordination = (lease: KubeObject): KubeObject =>
  withField(lease, 'spec', withMembers(specOf(lease), { strategy: undefined, preferredHolder: undefined }));

export const leaseKind: Kind = {
  ...plainKind,
  group: 'coordination.k8s.io',
  internalGroup: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  singular: 'lease',
  namespaced: true,
  schema: leaseSchema,
  collection: 'leases',
  nameRule: dnsSubdomainProblems,
  createOnUpdate: true,
  unconditionalUpdate: false,
  prepareCreate: withoutCoordination,
  prepareUpdate: withoutCoordination,
  validate: (object) => [
    ...builtInMetaErrors(object.metadata, true, dnsSubdomainProblems),
    ...specErrors(object),
  ],
  validateUpdate: (object, old) => [
    ...metaUpdateErrors(object.metadata, old.metadata),
    ...specErrors(object),
  ],
  columns: [
    nameColumn,
    column(
      'Holder',
      'holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.',
    ),
    ageColumn,
  ],
  cells: (object, age) => [
    object.metadata.name,
    stringAt(specOf(object), 'holderIdentity'),
    age(object.metadata.creationTimestamp),
  ],
};

/** k8s.io/kubernetes pkg/apis/coordination/validation ValidateLeaseSpec. */
function specErrors(lease: KubeObject): FieldError[] {
  const duration = memberAt(specOf(lease), 'leaseDurationSeconds');
  const transitions = memberAt(specOf(lease), 'leaseTransitions');
  return [
    ...(typeof duration === 'number' && duration <= 0
      ? [invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0')]
      : []),
    ...(typeof transitions === 'number' && transitions < 0
      ? [invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ];
}
