import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isOlder } from '../../kube/api/resource-version.ts';
import type { ConditionType, EventType } from '../event-types.ts';

/** Most changed keys that are remembered, and most characters: the state has little room. */
const MOST_KEYS = 100;
const MOST_CHARACTERS = 4_000;

/** Something that a sink is to be told of a source. Plain JSON, because it is stored. */
export interface Notification {
  readonly type: EventType;
  /** Counts the notifications of a source, so that A → B → A are three. */
  readonly seq: number;
  /** The checksum of the content (SPEC M4). */
  readonly version: string;
  /** RFC 3339. */
  readonly at: string;
  readonly previousVersion?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Absent if unknown, as for what changed while no controller ran. */
  readonly changedKeys?: readonly string[] | undefined;
  /** Numbers of companions, by state. */
  readonly companions?: Readonly<Record<string, number>> | undefined;
  /** Of a failure: the companion and why. Of a condition: what may be done. */
  readonly reason?: string | undefined;
}

/** What one sink knows of one source. */
export interface SinkRecord {
  /** What was last sent: the first 8 digits of the version. */
  readonly version?: string | undefined;
  readonly at?: string | undefined;
  /** A chat has been told of this uid, or will be, and is not told again (SPEC N7). */
  readonly created?: true | undefined;
  /** What it is yet to be told, the oldest first. */
  readonly pending?: readonly Notification[] | undefined;
}

/** The topic of each, which makes it news, such as the wave that is held. */
export type Topics = Readonly<Partial<Record<ConditionType, string>>>;

/** What is remembered of a source, by its uid (SPEC N4). */
export interface SourceRecord {
  readonly ref: ObjectKey;
  /** Of the last notification. */
  readonly seq: number;
  readonly version: string;
  /** Of the source when that version was noticed. */
  readonly resourceVersion: string;
  /** When that was, or when the source was seen to be gone, RFC 3339. */
  readonly at: string;
  /** It was said that all companions have this version. */
  readonly converged?: true | undefined;
  readonly failing?: true | undefined;
  /** Of the conditions that hold, what was told. */
  readonly conditions?: Topics | undefined;
  /** From the very first start: how its companions are now is not news. */
  readonly baseline?: true | undefined;
  /** Deleted or unlabelled. */
  readonly gone?: true | undefined;
  /** The sinks that it chose, or `none`, for when the source is gone. Absent: those by default. */
  readonly notify?: string | undefined;
  readonly sinks?: Readonly<Record<string, SinkRecord>> | undefined;
}

/** Whether so many changed keys count as unknown. */
export function areTooMany(keys: ReadonlySet<string>): boolean {
  return keys.size > MOST_KEYS || [...keys].join().length > MOST_CHARACTERS;
}

/** Whether the record may be of a later time than the observation. */
export function mayBeOutdated(
  record: SourceRecord,
  { digest, resourceVersion }: { readonly digest: string; readonly resourceVersion: string },
): boolean {
  const isOther = record.version !== digest && isOlder(resourceVersion, record.resourceVersion);
  return record.gone === true || isOther;
}

/** Undefined instead of what is empty: the state has little room. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}
