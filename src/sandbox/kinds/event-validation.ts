/**
 * Validation of Events (k8s.io/kubernetes pkg/apis/core/validation/events.go). It is stricter for
 * events.k8s.io than for core.
 */

import { equal, isObject, type JsonObject, memberAt, objectAt, stringAt } from '../objects/json.ts';
import { type KubeObject, toJson } from '../objects/kube-object.ts';
import { type FieldError, invalid, required } from './field-errors.ts';
import { dnsSubdomainProblems, labelKeyProblems } from './formats.ts';
import { builtInMetaErrors, immutableError, metaUpdateErrors } from './validation.ts';

const SHORT_TEXT_LIMIT = 128;
const NOTE_LIMIT = 1024;

/**
 * All functions take events in stored (core/v1) form. `controllerField` is the field's name in the
 * request's version.
 */
export function coreEventErrors(event: KubeObject, controllerField: string): FieldError[] {
  const json = toJson(event);
  const namespace = event.metadata.namespace ?? '';
  return [
    ...(memberAt(json, 'eventTime') === null
      ? oldStyleErrors(json, namespace)
      : newStyleErrors(json, namespace, controllerField)),
    ...dnsSubdomainProblems(namespace).map((problem) => invalid('namespace', namespace, problem)),
  ];
}

function oldStyleErrors(event: JsonObject, namespace: string): FieldError[] {
  const involved = stringAt(objectAt(event, 'involvedObject'), 'namespace');
  const agrees = involved === '' ? namespace === '' || namespace === 'default' : namespace === involved;
  return agrees ? [] : [mismatch(involved)];
}

const mismatch = (involved: string): FieldError =>
  invalid('involvedObject.namespace', involved, 'does not match event.namespace');

function newStyleErrors(event: JsonObject, namespace: string, controllerField: string): FieldError[] {
  const involved = stringAt(objectAt(event, 'involvedObject'), 'namespace');
  const controller = stringAt(event, 'reportingComponent');
  const shortText = (field: string): FieldError[] => {
    const value = stringAt(event, field);
    return [...(value === '' ? [required(field, '')] : []), ...limitErrors(field, value, SHORT_TEXT_LIMIT)];
  };
  return [
    ...(involved === '' && namespace !== 'default' && namespace !== 'kube-system'
      ? [mismatch(involved)]
      : []),
    ...(controller === '' ? [required(controllerField, '')] : []),
    ...labelKeyProblems(controller).map((problem) => invalid(controllerField, controller, problem)),
    ...shortText('reportingInstance'),
    ...shortText('action'),
    ...shortText('reason'),
    ...limitErrors('message', stringAt(event, 'message'), NOTE_LIMIT),
  ];
}

const limitErrors = (field: string, value: string, limit: number): FieldError[] =>
  Buffer.byteLength(value) > limit ? [invalid(field, '', `can have at most ${limit} characters`)] : [];

/** The additional rules of events.k8s.io for a new event. */
export function newEventErrors(event: KubeObject): FieldError[] {
  const json = toJson(event);
  const type = stringAt(json, 'type');
  const unset = (field: string, isSet: boolean) => (isSet ? [invalid(field, '', 'needs to be unset')] : []);
  return [
    ...builtInMetaErrors(event.metadata, true, dnsSubdomainProblems),
    ...seriesErrors(json),
    ...(memberAt(json, 'eventTime') === null ? [required('eventTime', '')] : []),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', memberAt(json, 'firstTimestamp') !== null),
    ...unset('lastTimestamp', memberAt(json, 'lastTimestamp') !== null),
    ...unset('count', memberAt(json, 'count') !== undefined),
    ...unset('source', Object.keys(objectAt(json, 'source')).length > 0),
  ];
}

function seriesErrors(event: JsonObject): FieldError[] {
  const series = memberAt(event, 'series');
  if (!isObject(series)) return [];
  const count = memberAt(series, 'count');
  return [
    ...(typeof count === 'number' && count >= 2 ? [] : [invalid('series.count', '', 'should be at least 2')]),
    ...(memberAt(series, 'lastObservedTime') === null ? [required('series.lastObservedTime', '')] : []),
  ];
}

const IMMUTABLE_FIELDS = [
  ['involvedObject'],
  ['reason'],
  ['message'],
  ['source'],
  ['firstTimestamp'],
  ['lastTimestamp'],
  ['count'],
  // The real server also checks it twice.
  ['reason'],
  ['type'],
  ['eventTime'],
  ['action'],
  ['related'],
  ['reportingComponent', 'reportingController'],
  ['reportingInstance'],
] as const;

/** The additional rule of events.k8s.io for an update: only the series may change. */
export function eventUpdateErrors(event: KubeObject, old: KubeObject): FieldError[] {
  const json = toJson(event);
  const before = toJson(old);
  const seriesChanged = !equal(memberAt(json, 'series'), memberAt(before, 'series'));
  return [
    ...metaUpdateErrors(event.metadata, old.metadata),
    ...(seriesChanged ? seriesErrors(json) : []),
    ...IMMUTABLE_FIELDS.flatMap(([field, shownAs = field]) =>
      immutableError(shownAs, memberAt(json, field) ?? null, memberAt(before, field) ?? null),
    ),
  ];
}
