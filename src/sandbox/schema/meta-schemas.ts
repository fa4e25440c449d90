/** Metadata, field by field in the order of Go's structs: k8s.io/apimachinery pkg/apis/meta/v1. */
import {
  anything,
  atomicList,
  bool,
  field,
  int64,
  type ListSchema,
  mapOf,
  named,
  type StructSchema,
  text,
  time,
  typeMeta,
} from './schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const uid = named('types.UID');

const ownerReference: StructSchema = {
  type: 'struct',
  goType: 'v1.OwnerReference',
  definition: `${META}.OwnerReference`,
  description: 'An object that owns this one: when all its owners are gone, the object is deleted.',
  atomic: true,
  fields: [
    field('apiVersion', 5, text, 'API version of the owner.', { zero: 'keep', required: true }),
    field('kind', 1, text, 'Kind of the owner.', { zero: 'keep', required: true }),
    field('name', 3, text, 'Name of the owner.', { zero: 'keep', required: true }),
    field('uid', 4, uid, 'UID of the owner.', { zero: 'keep', required: true }),
    field('controller', 6, bool, 'Whether the owner is the managing controller.', { zero: 'pointer' }),
    field(
      'blockOwnerDeletion',
      7,
      bool,
      'Whether a foreground deletion of the owner waits for this object.',
      {
        zero: 'pointer',
      },
    ),
  ],
};

const managedFieldsEntry: StructSchema = {
  type: 'struct',
  goType: 'v1.ManagedFieldsEntry',
  definition: `${META}.ManagedFieldsEntry`,
  description: 'Which fields one manager owns.',
  fields: [
    field('manager', 1, text, 'Who manages these fields.'),
    field('operation', 2, named('v1.ManagedFieldsOperationType'), 'Apply or Update.'),
    field('apiVersion', 3, text, 'Version that the field set is written in.'),
    field('time', 4, time, 'When the entry last changed.'),
    field('fieldsType', 6, text, 'Always FieldsV1.'),
    field('fieldsV1', 7, anything, 'The set of fields, as a trie.', { zero: 'pointer' }),
    field('subresource', 8, text, 'The subresource that the fields were set through.'),
  ],
};

const ownerReferences: ListSchema = {
  type: 'list',
  items: ownerReference,
  listType: 'map',
  listMapKeys: ['uid'],
  patchMerge: { key: 'uid' },
};

const objectMeta: StructSchema = {
  type: 'struct',
  goType: 'v1.ObjectMeta',
  definition: `${META}.ObjectMeta`,
  description: 'What every object has: its name, labels, annotations, owners and history.',
  fields: [
    field('name', 1, text, 'Unique within the namespace; a DNS-1123 subdomain.'),
    field('generateName', 2, text, 'Prefix of a name that the server makes up when none is given.'),
    field('namespace', 3, text, 'The namespace that the object lives in.'),
    field('selfLink', 4, text, 'No longer filled in.'),
    field('uid', 5, uid, 'Unique in time and space, given by the server.'),
    field('resourceVersion', 6, text, 'Opaque version of the object, for optimistic locking and watches.'),
    field('generation', 7, int64, 'Counts changes of the desired state, where a kind has one.'),
    field('creationTimestamp', 8, time, 'When the object was created.'),
    field('deletionTimestamp', 9, time, 'When the deletion of the object was asked for.'),
    field('deletionGracePeriodSeconds', 10, int64, 'How long the object may take to end.', {
      zero: 'pointer',
    }),
    field('labels', 11, mapOf(text), 'Keys and values that selectors match.'),
    field('annotations', 12, mapOf(text), 'Keys and values for anything else.'),
    field('ownerReferences', 13, ownerReferences, 'The objects that own this one.'),
    field(
      'finalizers',
      14,
      { type: 'list', items: text, listType: 'set', patchMerge: {} },
      'Who must still act before the object may go.',
    ),
    // An empty list is kept until managed-fields.ts has seen it: it clears the entries.
    field('managedFields', 17, atomicList(managedFieldsEntry), 'Who owns which fields.', { zero: 'pointer' }),
  ],
};

/** The `metadata` of an object. */
export const metadata = field('metadata', 1, objectMeta, 'Standard object metadata.', { zero: 'keep' });

/** The body of a DELETE. */
export const deleteOptionsSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.DeleteOptions',
  definition: `${META}.DeleteOptions`,
  description: 'How an object is deleted.',
  fields: [
    ...typeMeta,
    field('gracePeriodSeconds', 1, int64, 'How long the object may take to end.', { zero: 'pointer' }),
    field(
      'preconditions',
      2,
      {
        type: 'struct',
        goType: 'v1.Preconditions',
        definition: `${META}.Preconditions`,
        description: 'What must hold for the object to be deleted.',
        fields: [
          field('uid', 1, uid, 'Its UID.', { zero: 'pointer' }),
          field('resourceVersion', 2, text, 'Its resourceVersion.', { zero: 'pointer' }),
        ],
      },
      'What must hold for the object to be deleted.',
      { zero: 'pointer' },
    ),
    field('orphanDependents', 3, bool, 'Deprecated: use propagationPolicy.', { zero: 'pointer' }),
    field('propagationPolicy', 4, named('v1.DeletionPropagation'), 'What happens to dependents.', {
      zero: 'pointer',
    }),
    field('dryRun', 5, atomicList(text), 'All: nothing is stored.'),
  ],
};
