/** ConfigMaps, Namespaces and Leases, field by field in the order of Go's structs: k8s.io/api. */
import { metadata } from './meta-schemas.ts';
import {
  atomicList,
  bool,
  bytes,
  field,
  int32,
  mapOf,
  microTime,
  named,
  type StructSchema,
  text,
  time,
  typeMeta,
} from './schema.ts';

const CORE = 'io.k8s.api.core.v1';

export const configMapSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.ConfigMap',
  definition: `${CORE}.ConfigMap`,
  description: 'ConfigMap holds configuration data for pods to consume.',
  fields: [
    ...typeMeta,
    metadata,
    field('immutable', 4, bool, 'Whether data and binaryData may not be changed.', { zero: 'pointer' }),
    field('data', 2, mapOf(text), 'Configuration as text. Keys are alphanumeric characters, -, _ or .'),
    field(
      'binaryData',
      3,
      mapOf(bytes),
      'Configuration as base64. Keys must not overlap with those in data.',
    ),
  ],
};

const namespaceCondition: StructSchema = {
  type: 'struct',
  goType: 'v1.NamespaceCondition',
  definition: `${CORE}.NamespaceCondition`,
  description: 'One aspect of the state of a namespace.',
  fields: [
    field('type', 1, named('v1.NamespaceConditionType'), 'Kind of condition.', {
      zero: 'keep',
      required: true,
    }),
    field('status', 2, named('v1.ConditionStatus'), 'True, False or Unknown.', {
      zero: 'keep',
      required: true,
    }),
    field('lastTransitionTime', 4, time, 'When the status last changed.', { zero: 'keep' }),
    field('reason', 5, text, 'Why, for machines.'),
    field('message', 6, text, 'Why, for people.'),
  ],
};

export const namespaceSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.Namespace',
  definition: `${CORE}.Namespace`,
  description: 'Namespace provides a scope for names.',
  fields: [
    ...typeMeta,
    metadata,
    field(
      'spec',
      2,
      {
        type: 'struct',
        goType: 'v1.NamespaceSpec',
        definition: `${CORE}.NamespaceSpec`,
        description: 'What is asked of a namespace.',
        fields: [
          field(
            'finalizers',
            1,
            atomicList(named('v1.FinalizerName')),
            'Who must still act before the namespace may go.',
          ),
        ],
      },
      'What is asked of the namespace.',
      { zero: 'keep' },
    ),
    field(
      'status',
      3,
      {
        type: 'struct',
        goType: 'v1.NamespaceStatus',
        definition: `${CORE}.NamespaceStatus`,
        description: 'The state of a namespace.',
        fields: [
          field('phase', 1, named('v1.NamespacePhase'), 'Active or Terminating.'),
          field(
            'conditions',
            2,
            {
              type: 'list',
              items: namespaceCondition,
              listType: 'map',
              listMapKeys: ['type'],
              patchMerge: { key: 'type' },
            },
            'The state in detail.',
          ),
        ],
      },
      'The state of the namespace.',
      { zero: 'keep' },
    ),
  ],
};

export const leaseSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.Lease',
  definition: 'io.k8s.api.coordination.v1.Lease',
  description: 'Lease defines a lease concept.',
  fields: [
    ...typeMeta,
    metadata,
    field(
      'spec',
      2,
      {
        type: 'struct',
        goType: 'v1.LeaseSpec',
        definition: 'io.k8s.api.coordination.v1.LeaseSpec',
        description: 'Who holds a lease, and until when.',
        fields: [
          field('holderIdentity', 1, text, 'Who holds the lease.', { zero: 'pointer' }),
          field('leaseDurationSeconds', 2, int32, 'How long the lease holds after renewTime.', {
            zero: 'pointer',
          }),
          field('acquireTime', 3, microTime, 'When the holder acquired the lease.'),
          field('renewTime', 4, microTime, 'When the holder last renewed the lease.'),
          field('leaseTransitions', 5, int32, 'How often the holder has changed.', { zero: 'pointer' }),
          field('strategy', 6, named('v1.CoordinatedLeaseStrategy'), 'How the leader is picked.', {
            zero: 'pointer',
          }),
          field('preferredHolder', 7, text, 'Whom the holder should yield to.', { zero: 'pointer' }),
        ],
      },
      'Who holds the lease, and until when.',
      { zero: 'keep' },
    ),
  ],
};
