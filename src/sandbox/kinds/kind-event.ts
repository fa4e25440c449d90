/** Events: stored as core/v1, served as core/v1 and events.k8s.io/v1. */

import { isObject, memberAt, objectAt, objectOf, stringAt } from '../objects/json.ts';
import { type KubeObject, toJson, toObject } from '../objects/kube-object.ts';
import { coreEventSchema, eventsEventSchema } from '../schema/event-schemas.ts';
import type { StructSchema } from '../schema/schema.ts';
import { coreEventErrors, eventUpdateErrors, newEventErrors } from './event-validation.ts';
import { pathSegmentProblems } from './formats.ts';
import {
  column,
  type Kind,
  metaField,
  metaFieldValue,
  nameColumn,
  plainKind,
  unsupportedLabel,
} from './kinds.ts';

/** Names in events.k8s.io/v1 that differ from those in core/v1. */
const RENAMED: Readonly<Record<string, string>> = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
};

/** The same event with other field names, in the order and with the zero values of `schema`. */
function renamed(
  event: KubeObject,
  schema: StructSchema,
  apiVersion: string,
  nameIn: (field: string) => string,
): KubeObject {
  const json = toJson(event);
  const entries = schema.fields.flatMap(({ name, zero }) => {
    const value = memberAt(json, nameIn(name));
    if (value === undefined) return zero === 'keep' ? [[name, ''] as const] : [];
    return value === '' && zero === 'omit' ? [] : [[name, value] as const];
  });
  return toObject({ ...objectOf(entries), apiVersion });
}

const coreNameOf = (field: string): string => RENAMED[field] ?? field;
const eventsNameOf = (field: string): string =>
  Object.entries(RENAMED).find(([, core]) => core === field)?.[0] ?? field;

const SELECTABLE = new Set([
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'involvedObject.apiVersion',
  'involvedObject.resourceVersion',
  'involvedObject.fieldPath',
  'reason',
  'reportingComponent',
  'source',
  'type',
]);

function fieldValue(event: KubeObject, field: string): string {
  const json = toJson(event);
  if (field.startsWith('metadata.')) return metaFieldValue(event, field);
  if (field.startsWith('involvedObject.')) {
    return stringAt(objectAt(json, 'involvedObject'), field.slice('involvedObject.'.length));
  }
  if (field !== 'source') return stringAt(json, field);
  return stringAt(objectAt(json, 'source'), 'component') || stringAt(json, 'reportingComponent');
}

const shared = {
  ...plainKind,
  version: 'v1',
  kind: 'Event',
  resource: 'events',
  singular: 'event',
  shortNames: ['ev'],
  namespaced: true,
  collection: 'events',
  nameRule: pathSegmentProblems,
  createOnUpdate: true,
  unconditionalUpdate: true,
  fieldValue,
  unselectable: unsupportedLabel,
  columns: [
    column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.'),
    column('Type', 'Type of this event (Normal, Warning), new types could be added in the future'),
    column(
      'Reason',
      "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
    ),
    column('Object', 'The object that this event is about.'),
    column(
      'Subobject',
      'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
      { priority: 1 },
    ),
    column('Source', 'The component reporting this event. Should be a short machine understandable string.', {
      priority: 1,
    }),
    column('Message', 'A human-readable description of the status of this operation.'),
    column(
      'First Seen',
      'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
      { priority: 1 },
    ),
    column('Count', 'The number of times this event has occurred.', { priority: 1 }),
    { ...nameColumn, priority: 1 },
  ],
  cells,
} satisfies Partial<Kind>;

export const coreEventKind: Kind = {
  ...shared,
  group: '',
  schema: coreEventSchema,
  selectableField: (label) => (SELECTABLE.has(label) ? label : metaField(label)),
  validate: (event) => coreEventErrors(event, 'reportingComponent'),
  validateUpdate: (event) => coreEventErrors(event, 'reportingComponent'),
};

export const eventsEventKind: Kind = {
  ...shared,
  group: 'events.k8s.io',
  schema: eventsEventSchema,
  fromStored: (event) => renamed(event, eventsEventSchema, 'events.k8s.io/v1', coreNameOf),
  toStored: (event) => renamed(event, coreEventSchema, 'v1', eventsNameOf),
  selectableField: (label) => {
    const core = label.replace(/^regarding\./, 'involvedObject.');
    if (label === 'reportingController') return 'reportingComponent';
    if (core !== label || label === 'reason' || label === 'type')
      return SELECTABLE.has(core) ? core : undefined;
    return metaField(label);
  },
  validate: (event) => [...coreEventErrors(event, 'reportingController'), ...newEventErrors(event)],
  validateUpdate: (event, old) => [
    ...coreEventErrors(event, 'reportingController'),
    ...eventUpdateErrors(event, old),
  ],
};

/** k8s.io/kubernetes pkg/printers/internalversion printEvent. */
function cells(event: KubeObject, age: (timestamp: string | undefined) => string) {
  const json = toJson(event);
  const series = memberAt(json, 'series');
  const since = (field: string): string | undefined => stringAt(json, field) || undefined;
  const first = age(since('firstTimestamp') ?? since('eventTime'));
  const last = isObject(series)
    ? age(stringAt(series, 'lastObservedTime') || undefined)
    : since('lastTimestamp')
      ? age(since('lastTimestamp'))
      : first;
  const involved = objectAt(json, 'involvedObject');
  const name = stringAt(involved, 'name');
  const kind = stringAt(involved, 'kind').toLowerCase();
  const count = memberAt(isObject(series) ? series : json, 'count');
  return [
    last,
    stringAt(json, 'type'),
    stringAt(json, 'reason'),
    name === '' ? kind : `${kind}/${name}`,
    stringAt(involved, 'fieldPath'),
    sourceText(event),
    stringAt(json, 'message').trim(),
    first,
    typeof count === 'number' ? count : 1,
    event.metadata.name,
  ];
}

function sourceText(event: KubeObject): string {
  const json = toJson(event);
  const source = objectAt(json, 'source');
  const component = stringAt(source, 'component') || stringAt(json, 'reportingComponent');
  const host = stringAt(source, 'host') || stringAt(json, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}
