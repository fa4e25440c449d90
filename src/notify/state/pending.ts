import { aspectOf, type EventType } from '../event-types.ts';
import { areTooMany, type Notification, type SinkRecord, type SourceRecord, unlessEmpty } from './record.ts';

/** A sink that a source has chosen, or that has something of it waiting. */
export interface Receiver {
  readonly name: string;
  readonly types: ReadonlySet<EventType>;
  /** Tell it of a source's creation once, whatever happens (SPEC N7). */
  readonly createdOnce: boolean;
  /** The notification that is being sent and can no longer be replaced. */
  readonly sending: number | undefined;
}

/** Adds a notification to what each sink that takes it is to be told. */
export function told(
  record: SourceRecord,
  notification: Omit<Notification, 'seq'>,
  receivers: readonly Receiver[],
): SourceRecord {
  const next: Notification = { seq: record.seq + 1, ...notification };
  let after: SourceRecord = { ...record, seq: next.seq };
  for (const receiver of receivers) {
    after = withSink(after, receiver.name, (before) => addressed(before, next, receiver));
  }
  return after;
}

function addressed(before: SinkRecord, next: Notification, receiver: Receiver): SinkRecord {
  const isCreation = next.type === 'source.created';
  const isDeletion = next.type === 'source.deleted';
  const { pending: older = [], created, ...known } = before;
  if (isCreation && receiver.createdOnce && created) return before;
  const isSameAspect = ({ type }: Notification) => aspectOf(type) === aspectOf(next.type);
  const isReplaced = (each: Notification) =>
    each.seq !== receiver.sending && (isDeletion || isSameAspect(each));
  const replaced = older.filter(isReplaced);
  const merged = replaced.filter(isSameAspect).reduceRight((newer, each) => mergedInto(each, newer), next);
  const isTaken = receiver.types.has(merged.type);
  if (!isTaken && replaced.length === 0) return before;
  // A creation that was never told may be told another time.
  const isUntold = isDeletion && replaced.some(({ type }) => type === 'source.created');
  const isToldOnce = isTaken && isCreation && receiver.createdOnce;
  const kept = older.filter((each) => !isReplaced(each));
  return {
    ...known,
    created: (created && !isUntold) || isToldOnce || undefined,
    pending: isTaken ? [...kept, merged] : kept,
  };
}

/** The newer notification, for somebody who was never told the older one of the same aspect. */
function mergedInto(older: Notification, newer: Notification): Notification {
  if (newer.type !== 'source.changed') return newer;
  if (older.type === 'source.created') {
    return { ...newer, type: older.type, previousVersion: undefined, changedKeys: undefined };
  }
  if (older.type !== 'source.changed') return newer;
  const keys =
    older.changedKeys && newer.changedKeys && new Set([...older.changedKeys, ...newer.changedKeys]);
  const changedKeys = keys && !areTooMany(keys) ? [...keys].sort() : undefined;
  return { ...newer, previousVersion: older.previousVersion, changedKeys };
}

function withSink(
  record: SourceRecord,
  name: string,
  change: (before: SinkRecord) => SinkRecord,
): SourceRecord {
  const before = record.sinks?.[name] ?? {};
  const after = change(before);
  if (after === before) return record;
  const { [name]: _, ...others } = record.sinks ?? {};
  const { version, created, pending = [] } = after;
  const isEmpty = version === undefined && !created && pending.length === 0;
  const sinks = isEmpty ? others : { ...others, [name]: { ...after, pending: unlessEmpty(pending) } };
  return { ...record, sinks: unlessEmpty(sinks) };
}

/** A sink has received a notification, or will not get it any more. */
export function settled(
  record: SourceRecord,
  sink: string,
  { seq, version }: Notification,
  sentAt?: Date,
): SourceRecord {
  return withSink(record, sink, (before) => ({
    ...before,
    ...(sentAt !== undefined && { version: version.slice(0, 8), at: sentAt.toISOString() }),
    pending: (before.pending ?? []).filter((each) => each.seq !== seq),
  }));
}

/** A notification that was settled before it was sent has certainly not arrived: it waits again. */
export function putBack(record: SourceRecord, sink: string, notification: Notification): SourceRecord {
  const waiting = withSink(record, sink, (before) => ({
    ...before,
    pending: [notification, ...(before.pending ?? [])],
  }));
  return replaced(waiting, sink, notification);
}

/**
 * After a failed attempt, an older notification makes room for a newer one of its aspect, and one
 * that is over goes. The same record if neither is so.
 */
export function replaced(record: SourceRecord, sink: string, notification: Notification): SourceRecord {
  return withSink(record, sink, (before) => {
    const { pending = [], created } = before;
    const others = pending.filter(({ seq }) => seq !== notification.seq);
    // Somebody else has changed the record.
    if (others.length === pending.length) return before;
    if (isOver(record, notification)) {
      // A creation that was never told may be told another time.
      const isCreation = notification.type === 'source.created';
      return { ...before, created: isCreation ? undefined : created, pending: others };
    }
    const successor = others.find(({ type }) => aspectOf(type) === aspectOf(notification.type));
    if (successor === undefined) return before;
    const merged = mergedInto(notification, successor);
    return { ...before, pending: others.map((each) => (each === successor ? merged : each)) };
  });
}

/** Nobody need hear how a source was that has gone: only that, and conditions. */
function isOver({ gone }: SourceRecord, { type }: Notification): boolean {
  return gone === true && type !== 'source.deleted' && /^(source|companions)\./.test(type);
}

/** Without what waits for sinks that are no longer in the operator's file. */
export function withoutFormerSinks(record: SourceRecord, sinks: ReadonlySet<string>): SourceRecord {
  const former = Object.entries(record.sinks ?? {}).filter(
    ([name, { pending }]) => pending && !sinks.has(name),
  );
  return former.reduce(
    (each, [name]) => withSink(each, name, (before) => ({ ...before, pending: undefined })),
    record,
  );
}
