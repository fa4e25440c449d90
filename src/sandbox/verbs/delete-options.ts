/** The options of a DELETE, from its body or else its query. */

import { invalid, invalidObject, notSupported } from '../kinds/field-errors.ts';
import { isList, type JsonObject, memberAt, objectAt, stringAt } from '../objects/json.ts';
import type { DeleteOptions, Propagation } from '../storage/deletion.ts';
import { booleanOf, integerOf } from './list-options.ts';
import { dryRunErrors } from './write-options.ts';

const POLICIES: readonly Propagation[] = ['Foreground', 'Background', 'Orphan'];
const KIND = { group: 'meta.k8s.io', name: 'DeleteOptions' };

/** `body` is undefined when the request had none. */
export function parseDeleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const given = body ?? fromQuery(query);
  const orphanDependents = memberAt(given, 'orphanDependents');
  const policy = memberAt(given, 'propagationPolicy') ?? undefined;
  if (typeof orphanDependents === 'boolean' && policy !== undefined) {
    throw invalidObject(KIND, '', [
      invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    ]);
  }
  const propagation = POLICIES.find((known) => known === policy);
  if (policy !== undefined && propagation === undefined) {
    throw invalidObject(KIND, '', [notSupported('propagationPolicy', policy, [...POLICIES, 'nil'])]);
  }
  const preconditions = objectAt(given, 'preconditions');
  return {
    dryRun: dryRunOf(given),
    propagation: typeof orphanDependents === 'boolean' ? oldPolicy(orphanDependents) : propagation,
    uid: memberAt(preconditions, 'uid') === undefined ? undefined : stringAt(preconditions, 'uid'),
    resourceVersion:
      memberAt(preconditions, 'resourceVersion') === undefined
        ? undefined
        : stringAt(preconditions, 'resourceVersion'),
  };
}

const oldPolicy = (orphanDependents: boolean): Propagation => (orphanDependents ? 'Orphan' : 'Foreground');

function dryRunOf(options: JsonObject): boolean {
  const values = memberAt(options, 'dryRun');
  const query = new URLSearchParams(
    isList(values) ? values.map((value): [string, string] => ['dryRun', String(value)]) : [],
  );
  const errors = dryRunErrors(query);
  if (errors.length > 0) throw invalidObject(KIND, '', errors);
  return query.has('dryRun');
}

function fromQuery(query: URLSearchParams): JsonObject {
  // No kind of ours has a grace period, but a malformed one is refused.
  integerOf(query, 'gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = booleanOf(query.get('orphanDependents'));
  return {
    dryRun: query.getAll('dryRun'),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
  };
}
