/**
 * Server-side apply (KEP-555): a manager lists the fields that it wants, and owns those
 * (k8s.io/apimachinery pkg/util/managedfields, sigs.k8s.io/structured-merge-diff `merge`).
 */

import {
  byCodeUnit,
  isObject,
  type Json,
  type JsonObject,
  objectAt,
  quoted,
  stringAt,
} from '../objects/json.ts';
import {
  type KubeObject,
  type ManagedFieldsEntry,
  toJson,
  toObject,
  withMeta,
} from '../objects/kube-object.ts';
import { StatusError } from '../objects/status.ts';
import type { StructSchema } from '../schema/schema.ts';
import {
  difference,
  type FieldSet,
  intersection,
  isEmpty,
  noFields,
  pathsOf,
  printPath,
  union,
  withParents,
} from './field-set.ts';
import { afterChange, type Manager, type Owned, split, strip, withEntries, write } from './managed-fields.ts';
import { compare, fieldsOf, merge, removeFields } from './typed-value.ts';

export interface ApplyRequest {
  readonly schema: StructSchema;
  /** Absent when the object is to be created. */
  readonly live: KubeObject | undefined;
  /** An object of the kind without any field. */
  readonly empty: KubeObject;
  readonly config: JsonObject;
  readonly manager: Manager;
  /** Takes fields over instead of conflicting. */
  readonly force: boolean;
  readonly now: string;
}

/**
 * `live` with `config` applied, including managedFields. Removes fields that the manager applied
 * before and no longer mentions, unless another manager owns them. Throws a 409 that lists the
 * conflicts with other managers, unless `force`.
 */
export function apply(request: ApplyRequest): KubeObject {
  const { schema, empty, config, manager, now } = request;
  const live = toJson(request.live ?? empty);
  const { own, others } = split(entriesOf(request), manager);
  const claimed = strip(fieldsOf(schema, config), manager);
  const merged = merge(schema, live, config);
  const wanted = others.reduce((set, other) => union(set, other.set), claimed);
  const dropped = own ? difference(own.set, withParents(wanted)) : noFields;
  const result = removeFields(schema, merged, dropped);
  const comparison = compare(schema, live, result);
  const changed = strip(comparison.changed, manager);
  if (!request.force) refuseConflicts(others, difference(changed, appliedByClient(request)));
  const left = others.map(({ entry, set }) => ({
    entry,
    set: difference(difference(set, changed), strip(comparison.removed, manager)),
  }));
  const object = toObject(result as JsonObject);
  const isSame = isEmpty(comparison.changed) && isEmpty(comparison.removed);
  const managedFields = write(left, claimed, manager, isSame ? own?.entry.time : now);
  return withEntries(synchronised(object, config, manager), managedFields);
}

/**
 * The live entries. An object without any gets one owner of all its fields, so that an apply can
 * conflict.
 */
function entriesOf({ schema, live, empty, manager, now }: ApplyRequest): readonly ManagedFieldsEntry[] {
  const entries = live?.metadata.managedFields ?? [];
  if (!live || entries.length > 0) return entries;
  return afterChange(
    schema,
    empty,
    live,
    [],
    { ...manager, name: 'before-first-apply', operation: 'Update' },
    now,
  );
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Updates kubectl's record of its client-side apply, if there is one. */
function synchronised(object: KubeObject, config: JsonObject, manager: Manager): KubeObject {
  const { annotations } = object.metadata;
  if (manager.name !== 'kubectl' || !annotations?.[LAST_APPLIED]) return object;
  const { [LAST_APPLIED]: _, ...kept } = objectAt(objectAt(config, 'metadata'), 'annotations');
  const hasAnnotations = Object.keys(kept).length > 0;
  const { annotations: _annotations, ...metadata } = objectAt(config, 'metadata');
  const recorded: Json = {
    ...config,
    metadata: { ...metadata, ...(hasAnnotations ? { annotations: kept } : {}) },
  };
  return withMeta(object, {
    annotations: { ...annotations, [LAST_APPLIED]: `${sortedText(recorded)}\n` },
  });
}

/**
 * The fields that kubectl's record of its client-side apply names and that are still as it says.
 * kubectl may take them over without a conflict: so one changes from client-side to server-side
 * apply.
 */
function appliedByClient({ schema, live, manager }: ApplyRequest): FieldSet {
  const record = live?.metadata.annotations?.[LAST_APPLIED];
  if (manager.name !== 'kubectl' || !live || !record) return noFields;
  const config = parsed(record);
  if (stringAt(config, 'apiVersion') !== manager.apiVersion || !stringAt(config, 'kind')) return noFields;
  const { changed, removed } = compare(schema, config, toJson(live));
  return difference(difference(fieldsOf(schema, config), changed), removed);
}

/** Anything but the text of an object is an object without members. */
function parsed(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** JSON with sorted keys, as Go writes maps. */
const sortedText = (value: Json): string =>
  JSON.stringify(value, (_key, member: Json) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => byCodeUnit(a, b)))
      : member,
  );

function refuseConflicts(others: readonly Owned[], changed: FieldSet): void {
  const conflicts = others.flatMap(({ entry, set }) =>
    [...pathsOf(intersection(set, changed))].map((path) => ({
      manager: describe(entry),
      field: printPath(path),
    })),
  );
  const [first] = conflicts;
  if (!first) return;
  const managers = [...new Set(conflicts.map((conflict) => conflict.manager))].sort(byCodeUnit);
  const list = managers.flatMap((manager) => [
    `conflicts with ${manager}:`,
    ...conflicts.filter((conflict) => conflict.manager === manager).map(({ field }) => `- ${field}`),
  ]);
  const message =
    conflicts.length === 1
      ? `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.field}`
      : `Apply failed with ${conflicts.length} conflicts: ${list.join('\n')}`;
  throw new StatusError(409, 'Conflict', message, {
    causes: conflicts.map(({ manager, field }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field,
    })),
  });
}

function describe(entry: ManagedFieldsEntry): string {
  const subresource = entry.subresource ? ` with subresource ${quoted(entry.subresource)}` : '';
  const version = entry.operation === 'Update' ? ` using ${entry.apiVersion ?? ''}` : '';
  return `${quoted(entry.manager ?? '')}${subresource}${version}`;
}
