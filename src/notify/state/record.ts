import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isOlder } from '../../kube/api/resource-version.ts';
import { aspectOf, type ConditionType, type EventType } from '../event-types.ts';

/** Something that a sink is to be told of a source. Plain JSON, because it is stored. */
export interface Notification {
  readonly type: EventType;
  /** Counts the notifications of a source, so that A → B → A are three. */
  readonly seq: number;
  /** The checksum of the content (SPEC M4). */
  readonly version: string;
  /** RFC 3339. */
  readonly at: string;
  readonly previousVersion?: string;
  readonly resourceVersion?: string;
  /** Absent if unknown, as for what changed while no controller ran. */
  readonly changedKeys?: readonly string[];
  /** Numbers of companions, by state. */
  readonly companions?: Readonly<Record<string, number>>;
  /** Of a failure: the companion and why. Of a condition: what may be done. */
  readonly reason?: string;
}

/** What one sink knows of one source. */
export interface SinkRecord {
  /** What was last sent: the first 8 digits of the version. */
  readonly version?: string;
  readonly at?: string;
  /** A chat has been told of this uid, or will be, and is not told again (SPEC N7). */
  readonly created?: true;
  /** What it is yet to be told, the oldest first. */
  readonly pending?: readonly Notification[];
}

export type Conditions = Readonly<Partial<Record<ConditionType, string>>>;

/** What is remembered of a source, by its uid (SPEC N4). */
export interface SourceRecord {
  readonly ref: ObjectKey;
  /** Of the last notification. */
  readonly seq: number;
  readonly version: string;
  /** Of the source when that version was noticed. */
  readonly resourceVersion: string;
  /** When that was, RFC 3339. */
  readonly at: string;
  /** It was said that all companions have this version. */
  readonly converged?: true;
  readonly failing?: true;
  /** Conditions that hold, with the reasons that were told. */
  readonly conditions?: Conditions;
  /** From the very first start: how its companions are now is not news. */
  readonly baseline?: true;
  /** Deleted or unlabelled. */
  readonly gone?: true;
  /** The sinks that it chose, or `none`, for when the source is gone. Absent: those by default. */
  readonly notify?: string;
  readonly sinks?: Readonly<Record<string, SinkRecord>>;
}

/** A source as it is now. */
export interface Observation {
  readonly ref: ObjectKey;
  readonly version: string;
  readonly resourceVersion: string;
  readonly notify: string | undefined;
  readonly changedKeys: readonly string[] | undefined;
  /** Of its companions; undefined: unknown. */
  readonly companions: Readonly<Record<string, number>> | undefined;
  readonly inSync: boolean;
  /** Whether companions hold this version, if they are in sync. */
  readonly isEverywhere: boolean;
  /** Why a companion fails; undefined: none does. */
  readonly failure: string | undefined;
  readonly conditions: Conditions;
}

/** A sink that a source has chosen, or that has something of it waiting. */
export interface Receiver {
  readonly name: string;
  readonly types: ReadonlySet<EventType>;
  /** Tell it of a source's creation once, whatever happens (SPEC N7). */
  readonly createdOnce: boolean;
  /** The notification that is being sent and can no longer be replaced. */
  readonly sending: number | undefined;
}

/** What is known of a source's companions. */
const OF_COMPANIONS = ['failing', 'converged', 'baseline', 'conditions'] as const;

/** For a source that was there before anybody was told of anything. */
export function baseline(observation: Observation, now: Date): SourceRecord {
  const { version, notify } = observation;
  return {
    ...fresh(observation, now),
    version,
    baseline: true,
    converged: true,
    ...(notify !== undefined && { notify }),
  };
}

/** What follows from an observation. The same record if nothing does. */
export function observed(
  before: SourceRecord | undefined,
  observation: Observation,
  receivers: readonly Receiver[],
  now: Date,
): SourceRecord {
  const { version, resourceVersion, companions, notify } = observation;
  const at = now.toISOString();
  const tell: Tell = (record, type, more = {}) => {
    const counts = companions && { companions };
    return told(record, { type, version, resourceVersion, at, ...counts, ...more }, receivers);
  };
  const record = choosing(before ?? fresh(observation, now), notify);
  const isNew = before === undefined || before.gone === true;
  const known = withHealth(withVersion(record, isNew, observation, at, tell), observation, tell);
  return withConditions(known, observation.conditions, tell);
}

type Tell = (record: SourceRecord, type: EventType, more?: Partial<Notification>) => SourceRecord;

function choosing(record: SourceRecord, notify: string | undefined): SourceRecord {
  if (record.notify === notify) return record;
  return notify === undefined ? without(record, 'notify') : { ...record, notify };
}

function withVersion(
  record: SourceRecord,
  isNew: boolean,
  { version, resourceVersion, changedKeys }: Observation,
  at: string,
  tell: Tell,
): SourceRecord {
  if (isNew) {
    const created = { ...record, version, resourceVersion, at };
    return tell(without(created, ...OF_COMPANIONS, 'gone'), 'source.created');
  }
  if (record.version === version) return record;
  const changed = { previousVersion: record.version, ...(changedKeys && { changedKeys }) };
  const next = without({ ...record, version, resourceVersion, at }, 'converged');
  return tell(next, 'source.changed', changed);
}

function withHealth(
  before: SourceRecord,
  { inSync, isEverywhere, failure }: Observation,
  tell: Tell,
): SourceRecord {
  const isFailing = failure !== undefined;
  let record = before;
  if (record.baseline && (isFailing || inSync)) {
    record = without({ ...record, ...(isFailing && { failing: true }) }, 'baseline');
  }
  if (isFailing && !record.failing) {
    record = tell({ ...record, failing: true }, 'companions.failing', { reason: failure });
  } else if (!isFailing && inSync && record.failing) {
    record = tell(without(record, 'failing'), 'companions.recovered');
  }
  if (!inSync || !isEverywhere || record.converged) return record;
  return tell({ ...record, converged: true }, 'companions.converged');
}

function withConditions(before: SourceRecord, conditions: Conditions, tell: Tell): SourceRecord {
  const known = before.conditions ?? {};
  const names = (each: Conditions) => Object.keys(each) as ConditionType[];
  const news = names(conditions).filter((type) => conditions[type] !== known[type]);
  const isOver = names(known).some((type) => conditions[type] === undefined);
  if (news.length === 0 && !isOver) return before;
  const after = without({ ...before, conditions }, names(conditions).length === 0 && 'conditions');
  if (before.baseline) return after;
  return news.reduce((record, type) => tell(record, type, { reason: conditions[type] ?? '' }), after);
}

/** The source was deleted or unlabelled. The deletion of its companions may be held. */
export function departed(
  record: SourceRecord,
  conditions: Conditions,
  receivers: readonly Receiver[],
  now: Date,
): SourceRecord {
  if (record.gone) return record;
  const tell: Tell = (each, type, more = {}) =>
    told(each, { type, version: record.version, at: now.toISOString(), ...more }, receivers);
  const gone = tell(without({ ...record, gone: true }, ...OF_COMPANIONS), 'source.deleted');
  return withConditions(gone, conditions, tell);
}

/** A sink has been told of a notification, or is told nothing more of it. */
export function settled(
  record: SourceRecord,
  sink: string,
  { seq, version }: Notification,
  sentAt: Date | undefined,
): SourceRecord {
  return withSink(record, sink, (before) => ({
    ...before,
    ...(sentAt !== undefined && { version: version.slice(0, 8), at: sentAt.toISOString() }),
    pending: (before.pending ?? []).filter((each) => each.seq !== seq),
  }));
}

/** A notification that was settled before it was sent has certainly not arrived. */
export function unsettled(record: SourceRecord, sink: string, notification: Notification): SourceRecord {
  return withSink(record, sink, (before) => {
    const pending = before.pending ?? [];
    const successor = pending.find(({ type }) => aspectOf(type) === aspectOf(notification.type));
    if (successor === undefined) return { ...before, pending: [notification, ...pending] };
    const merged = mergedInto(notification, successor);
    return { ...before, pending: pending.map((each) => (each === successor ? merged : each)) };
  });
}

/** After a failed attempt, an older notification makes room for a newer one of its aspect. */
export function replaced(record: SourceRecord, sink: string, notification: Notification): SourceRecord {
  const pending = record.sinks?.[sink]?.pending ?? [];
  const isSuccessor = ({ type, seq }: Notification) =>
    aspectOf(type) === aspectOf(notification.type) && seq > notification.seq;
  if (!pending.some(isSuccessor)) return record;
  return unsettled(settled(record, sink, notification, undefined), sink, notification);
}

/** Without what waits for sinks that are no longer in the operator's file. */
export function withoutFormerSinks(record: SourceRecord, sinks: ReadonlySet<string>): SourceRecord {
  const former = Object.entries(record.sinks ?? {}).filter(
    ([name, { pending }]) => pending && !sinks.has(name),
  );
  return former.reduce((each, [name]) => withSink(each, name, ({ pending: _, ...known }) => known), record);
}

/** Whether nothing more needs to be known of a source that is gone. */
export function isForgettable({ gone, sinks = {} }: SourceRecord): boolean {
  return gone === true && Object.values(sinks).every(({ pending, created }) => !pending?.length && !created);
}

/** Of no version yet. */
function fresh({ ref, resourceVersion }: Observation, now: Date): SourceRecord {
  // From the time on, so that a record which was lost does not lead to ids that were used before.
  const seq = Math.floor(now.getTime() / 1000);
  return { ref, seq, version: '', resourceVersion, at: now.toISOString() };
}

/** Whether the record may be of a later time than the observation. */
export function mayBeOutdated(
  record: SourceRecord | undefined,
  { digest, resourceVersion }: { readonly digest: string; readonly resourceVersion: string },
): boolean {
  if (record === undefined) return false;
  const isOther = record.version !== digest && isOlder(resourceVersion, record.resourceVersion);
  return record.gone === true || isOther;
}

/** Adds a notification to what each sink that takes it is to be told. */
function told(
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
  if (isCreation && receiver.createdOnce && before.created) return before;
  const isReplaced = (each: Notification) =>
    each.seq !== receiver.sending &&
    (next.type === 'source.deleted' || aspectOf(each.type) === aspectOf(next.type));
  const older = before.pending ?? [];
  const merged = older
    .filter((each) => isReplaced(each) && aspectOf(each.type) === aspectOf(next.type))
    .reduceRight((newer, each) => mergedInto(each, newer), next);
  const kept = older.filter((each) => !isReplaced(each));
  const isTaken = receiver.types.has(merged.type);
  if (!isTaken && kept.length === older.length) return before;
  return {
    ...before,
    ...(isTaken && isCreation && receiver.createdOnce && { created: true }),
    pending: isTaken ? [...kept, merged] : kept,
  };
}

/** The newer notification, for somebody who was never told the older one of the same aspect. */
function mergedInto(older: Notification, newer: Notification): Notification {
  if (newer.type !== 'source.changed') return newer;
  const { previousVersion: _, changedKeys: newerKeys, ...rest } = newer;
  if (older.type !== 'source.changed')
    return older.type === 'source.created' ? { ...rest, type: older.type } : newer;
  const { previousVersion, changedKeys: olderKeys } = older;
  return {
    ...rest,
    ...(previousVersion !== undefined && { previousVersion }),
    ...(olderKeys && newerKeys && { changedKeys: [...new Set([...olderKeys, ...newerKeys])].sort() }),
  };
}

function withSink(
  record: SourceRecord,
  name: string,
  change: (before: SinkRecord) => SinkRecord,
): SourceRecord {
  const before = record.sinks?.[name] ?? {};
  const { pending = [], ...after } = change(before);
  const sink: SinkRecord = { ...after, ...(pending.length > 0 && { pending }) };
  const { [name]: _, ...others } = record.sinks ?? {};
  const sinks = Object.keys(sink).length > 0 ? { ...others, [name]: sink } : others;
  return without({ ...record, sinks }, Object.keys(sinks).length === 0 && 'sinks');
}

/** Without some of its optional fields. */
function without(record: SourceRecord, ...names: readonly (keyof SourceRecord | false)[]): SourceRecord {
  if (!names.some((name) => name && name in record)) return record;
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => !names.some((each) => each === name)),
  ) as unknown as SourceRecord;
}
