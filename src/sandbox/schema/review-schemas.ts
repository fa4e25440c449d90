/** Reviews of permissions and identity: k8s.io/api authorization/v1 and authentication/v1. */
import { metadata } from './meta-schemas.ts';
import { type FieldSchema, field, type StructSchema, text, typeMeta } from './schema.ts';

const AUTHORIZATION = 'io.k8s.api.authorization.v1';

const struct = (name: string, description: string, fields: readonly FieldSchema[]): StructSchema => ({
  type: 'struct',
  goType: `v1.${name}`,
  definition: `${AUTHORIZATION}.${name}`,
  description,
  fields,
});

const resourceAttributes = struct('ResourceAttributes', 'A request for a resource.', [
  field('namespace', 1, text, 'Namespace of the resource.'),
  field('verb', 2, text, 'Verb of the request.'),
  field('group', 3, text, 'API group of the resource.'),
  field('version', 4, text, 'API version of the resource.'),
  field('resource', 5, text, 'The resource.'),
  field('subresource', 6, text, 'The subresource.'),
  field('name', 7, text, 'Name of the object.'),
]);

const nonResourceAttributes = struct('NonResourceAttributes', 'A request for another path.', [
  field('path', 1, text, 'The path.'),
  field('verb', 2, text, 'Verb of the request.'),
]);

const review = (name: string, spec: readonly FieldSchema[]): StructSchema =>
  struct(name, 'A question about permissions.', [
    ...typeMeta,
    metadata,
    ...(spec.length === 0
      ? []
      : [field('spec', 2, struct(`${name}Spec`, 'The question.', spec), 'The question.', { zero: 'keep' })]),
  ]);

export const accessReviewSchema = review('SelfSubjectAccessReview', [
  field('resourceAttributes', 1, resourceAttributes, 'About a resource.', { zero: 'pointer' }),
  field('nonResourceAttributes', 2, nonResourceAttributes, 'About a path.', { zero: 'pointer' }),
]);

export const rulesReviewSchema = review('SelfSubjectRulesReview', [
  field('namespace', 1, text, 'About this namespace.'),
]);

export const selfReviewSchema: StructSchema = {
  ...review('SelfSubjectReview', []),
  definition: 'io.k8s.api.authentication.v1.SelfSubjectReview',
};
