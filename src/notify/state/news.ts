import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ConditionType, EventType } from '../event-types.ts';
import { type Receiver, told } from './pending.ts';
import { type Notification, type SourceRecord, type Topics, unlessEmpty } from './record.ts';

/** The conditions that hold. They are told when they begin, or get another topic. */
export type Conditions = Readonly<
  Partial<Record<ConditionType, { readonly topic: string; readonly reason: string }>>
>;

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

/** Nothing is known of a source's companions. */
const UNKNOWN_COMPANIONS = {
  failing: undefined,
  converged: undefined,
  baseline: undefined,
  conditions: undefined,
} as const;

/** For a source that was there before anybody was told of anything. */
export function baseline(observation: Observation, now: Date): SourceRecord {
  const { version, notify } = observation;
  return { ...fresh(observation, now), version, baseline: true, converged: true, notify };
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
  const tell: Tell = (record, type, more = {}) =>
    told(record, { type, version, resourceVersion, at, companions, ...more }, receivers);
  const known = before ?? fresh(observation, now);
  const choosing = known.notify === notify ? known : { ...known, notify };
  const isNew = before === undefined || before.gone === true;
  const current = withVersion(choosing, isNew, observation, at, tell);
  return withConditions(withHealth(current, observation, tell), observation.conditions, tell);
}

type Tell = (record: SourceRecord, type: EventType, more?: Partial<Notification>) => SourceRecord;

function withVersion(
  record: SourceRecord,
  isNew: boolean,
  { version, resourceVersion, changedKeys }: Observation,
  at: string,
  tell: Tell,
): SourceRecord {
  if (isNew) {
    const created = { ...record, ...UNKNOWN_COMPANIONS, version, resourceVersion, at, gone: undefined };
    return tell(created, 'source.created');
  }
  if (record.version === version) return record;
  const changed = { ...record, version, resourceVersion, at, converged: undefined };
  return tell(changed, 'source.changed', { previousVersion: record.version, changedKeys });
}

function withHealth(
  before: SourceRecord,
  { inSync, isEverywhere, failure }: Observation,
  tell: Tell,
): SourceRecord {
  const isFailing = failure !== undefined;
  let record = before;
  if (record.baseline && (isFailing || inSync)) {
    record = { ...record, baseline: undefined, ...(isFailing && { failing: true }) };
  }
  if (isFailing && !record.failing) {
    record = tell({ ...record, failing: true }, 'companions.failing', { reason: failure });
  } else if (!isFailing && inSync && record.failing) {
    record = tell({ ...record, failing: undefined }, 'companions.recovered');
  }
  if (!inSync || !isEverywhere || record.converged) return record;
  return tell({ ...record, converged: true }, 'companions.converged');
}

function withConditions(before: SourceRecord, conditions: Conditions, tell: Tell): SourceRecord {
  const known = before.conditions ?? {};
  const names = (each: object) => Object.keys(each) as ConditionType[];
  const topics: Topics = Object.fromEntries(names(conditions).map((type) => [type, conditions[type]?.topic]));
  const news = names(topics).filter((type) => topics[type] !== known[type]);
  const isOver = names(known).some((type) => topics[type] === undefined);
  if (news.length === 0 && !isOver) return before;
  const after: SourceRecord = { ...before, conditions: unlessEmpty(topics) };
  if (before.baseline) return after;
  return news.reduce((record, type) => tell(record, type, { reason: conditions[type]?.reason }), after);
}

/**
 * The source was deleted or unlabelled. The deletion of its companions may be held, also later. The
 * same record if nothing is new.
 */
export function departed(
  record: SourceRecord,
  conditions: Conditions,
  receivers: readonly Receiver[],
  now: Date,
): SourceRecord {
  const at = now.toISOString();
  const tell: Tell = (each, type, more = {}) =>
    told(each, { type, version: record.version, at, ...more }, receivers);
  const gone = record.gone
    ? record
    : tell({ ...record, ...UNKNOWN_COMPANIONS, at, gone: true }, 'source.deleted');
  return withConditions(gone, conditions, tell);
}

/** Of no version yet. */
function fresh({ ref, resourceVersion }: Observation, now: Date): SourceRecord {
  // From the time on, so that a record which was lost or forgotten does not lead to ids that were
  // used before.
  const seq = Math.floor(now.getTime() / 1000);
  return { ref, seq, version: '', resourceVersion, at: now.toISOString() };
}
