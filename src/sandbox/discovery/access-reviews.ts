/** SelfSubjectAccessReview and its relatives. Everybody may do everything. */

import { invalid, invalidObject } from '../kinds/field-errors.ts';
import { type Json, type JsonObject, objectAt } from '../objects/json.ts';
import { decode } from '../schema/decode.ts';
import { accessReviewSchema, rulesReviewSchema, selfReviewSchema } from '../schema/review-schemas.ts';
import type { StructSchema } from '../schema/schema.ts';
import { reviewResources } from './served-resources.ts';

const USER = { username: 'sandbox', groups: ['system:masters', 'system:authenticated'] };

const SCHEMAS = {
  SelfSubjectAccessReview: accessReviewSchema,
  SelfSubjectRulesReview: rulesReviewSchema,
  SelfSubjectReview: selfReviewSchema,
} as const;

export interface Review {
  readonly schema: StructSchema;
  answer(body: Json, now: string): JsonObject;
}

/** The review that clients post to `path`; undefined for any other path. */
export function reviewAt(path: readonly string[]): Review | undefined {
  const [root, group, version, name, ...rest] = path;
  if (root !== 'apis' || version !== 'v1' || rest.length > 0) return undefined;
  const review = reviewResources.find((one) => one.group === group && one.name === name);
  return (
    review && {
      schema: SCHEMAS[review.kind],
      answer: (body, now) => {
        const { object } = decode(SCHEMAS[review.kind], body);
        const spec = objectAt(object, 'spec');
        if (review.kind === 'SelfSubjectAccessReview') refuseEmpty(spec);
        return {
          kind: review.kind,
          apiVersion: `${review.group}/v1`,
          metadata: review.kind === 'SelfSubjectReview' ? { creationTimestamp: now } : {},
          ...(review.kind === 'SelfSubjectReview' ? {} : { spec }),
          status: statusOf(review.kind),
        };
      },
    }
  );
}

function refuseEmpty(spec: JsonObject): void {
  if (Object.keys(spec).length === 1) return;
  const field = 'spec.resourceAttributes';
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  throw invalidObject({ group: 'authorization.k8s.io', name: '' }, '', [invalid(field, null, why)]);
}

function statusOf(kind: (typeof reviewResources)[number]['kind']): Json {
  switch (kind) {
    case 'SelfSubjectAccessReview':
      return { allowed: true };
    case 'SelfSubjectRulesReview':
      return {
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      };
    case 'SelfSubjectReview':
      return { userInfo: USER };
  }
}
