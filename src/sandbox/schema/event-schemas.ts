/** Events, field by field in the order of Go's structs: k8s.io/api core/v1 and events/v1. */
import { metadata, uid } from './meta-schemas.ts';
import { field, int32, microTime, type StructSchema, text, time, typeMeta } from './schema.ts';

const CORE = 'io.k8s.api.core.v1';

const objectReference: StructSchema = {
  type: 'struct',
  goType: 'v1.ObjectReference',
  definition: `${CORE}.ObjectReference`,
  description: 'The object that an event is about.',
  atomic: true,
  fields: [
    field('kind', 1, text, 'Kind of the object.'),
    field('namespace', 2, text, 'Namespace of the object.'),
    field('name', 3, text, 'Name of the object.'),
    field('uid', 4, uid, 'UID of the object.'),
    field('apiVersion', 5, text, 'API version of the object.'),
    field('resourceVersion', 6, text, 'Version of the object that the event is about.'),
    field('fieldPath', 7, text, 'Part of the object that the event is about.'),
  ],
};

const eventSource: StructSchema = {
  type: 'struct',
  goType: 'v1.EventSource',
  definition: `${CORE}.EventSource`,
  description: 'Who reported an event.',
  fields: [field('component', 1, text, 'Component.'), field('host', 2, text, 'Node.')],
};

const eventSeries = (definition: string, zero: 'omit' | 'keep'): StructSchema => ({
  type: 'struct',
  goType: 'v1.EventSeries',
  definition,
  description: 'How often an event has been seen.',
  fields: [
    field('count', 1, int32, 'How often.', { zero }),
    field('lastObservedTime', 2, microTime, 'When last.', { zero: 'keep' }),
  ],
});

/** core/v1 Event: the form in which events are stored. */
export const coreEventSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.Event',
  definition: `${CORE}.Event`,
  description: 'Event is a report of an event somewhere in the cluster.',
  fields: [
    ...typeMeta,
    { ...metadata, required: true },
    field('involvedObject', 2, objectReference, 'The object that the event is about.', {
      zero: 'keep',
      required: true,
    }),
    field('reason', 3, text, 'Why, for machines.'),
    field('message', 4, text, 'What happened, for people.'),
    field('source', 5, eventSource, 'Who reported it.', { zero: 'keep' }),
    field('firstTimestamp', 6, time, 'When it was first seen.', { zero: 'keep' }),
    field('lastTimestamp', 7, time, 'When it was last seen.', { zero: 'keep' }),
    field('count', 8, int32, 'How often it was seen.'),
    field('type', 9, text, 'Normal or Warning.'),
    field('eventTime', 10, microTime, 'When it was first observed.', { zero: 'keep' }),
    field('series', 11, eventSeries(`${CORE}.EventSeries`, 'omit'), 'The series that it is part of.', {
      zero: 'pointer',
    }),
    field('action', 12, text, 'What was done about the object.'),
    field('related', 13, objectReference, 'A second object.', { zero: 'pointer' }),
    field('reportingComponent', 14, text, 'The controller that reported it.', { zero: 'keep' }),
    field('reportingInstance', 15, text, 'The instance of that controller.', { zero: 'keep' }),
  ],
};

/** events.k8s.io/v1 Event: a view of the same objects. */
export const eventsEventSchema: StructSchema = {
  type: 'struct',
  goType: 'v1.Event',
  definition: 'io.k8s.api.events.v1.Event',
  description: 'Event is a report of an event somewhere in the cluster.',
  fields: [
    ...typeMeta,
    metadata,
    field('eventTime', 2, microTime, 'When it was first observed.', { zero: 'keep', required: true }),
    field(
      'series',
      3,
      eventSeries('io.k8s.api.events.v1.EventSeries', 'keep'),
      'The series that it is part of.',
      {
        zero: 'pointer',
      },
    ),
    field('reportingController', 4, text, 'The controller that reported it.'),
    field('reportingInstance', 5, text, 'The instance of that controller.'),
    field('action', 6, text, 'What was done about the object.'),
    field('reason', 7, text, 'Why, for machines.'),
    field('regarding', 8, objectReference, 'The object that the event is about.', { zero: 'keep' }),
    field('related', 9, objectReference, 'A second object.', { zero: 'pointer' }),
    field('note', 10, text, 'What happened, for people.'),
    field('type', 11, text, 'Normal or Warning.'),
    field('deprecatedSource', 12, eventSource, 'Who reported it.', { zero: 'keep' }),
    field('deprecatedFirstTimestamp', 13, time, 'When it was first seen.', { zero: 'keep' }),
    field('deprecatedLastTimestamp', 14, time, 'When it was last seen.', { zero: 'keep' }),
    field('deprecatedCount', 15, int32, 'How often it was seen.'),
  ],
};
