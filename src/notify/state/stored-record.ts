import { createHash } from 'node:crypto';
import { type ObjectKey, objectKey, parseKey } from '../../kube/api/object-key.ts';
import type { ConfigMap } from '../../kube/api/types.ts';
import { isSinkName } from '../../mirror/request/notify.ts';
import { MANAGED_BY } from '../../mirror/vocabulary.ts';
import { EVENT_TYPES } from '../event-types.ts';
import type { Notification, SinkRecord, SourceRecord } from './record.ts';

/** ConfigMaps that the records are spread over: one holds at most 1 MB, some 3,000 records. */
export const SHARDS = 16;

/** By which all of them are found, wherever they are. */
export const STATE_LABELS = {
  'app.kubernetes.io/managed-by': MANAGED_BY,
  'app.kubernetes.io/component': 'notifications',
} as const;

const SUFFIX = '-notify';

/** How the keys of the ConfigMaps with the records begin. */
export function prefixFor(namespace: string, leaseName: string): ObjectKey {
  return objectKey(namespace, leaseName + SUFFIX);
}

/** Where the records of shard `at` are stored. */
export function shardKey(prefix: ObjectKey, at: number): ObjectKey {
  return `${prefix}-${at}` as ObjectKey;
}

/** Of any Lease. */
export function isShardName(name: string): boolean {
  return Array.from({ length: SHARDS }, (_, at) => `${SUFFIX}-${at}`).some((end) => name.endsWith(end));
}

/** By the uid: a name may be longer than a key of a ConfigMap. */
export function shardOf(uid: string): number {
  return (createHash('sha256').update(uid).digest()[0] ?? 0) % SHARDS;
}

/** The records in a shard by uid. `onMalformed` gets the uid of each that cannot be read. */
export function recordsIn(
  { data = {} }: Pick<ConfigMap, 'data'>,
  onMalformed: (uid: string) => void,
): Map<string, SourceRecord> {
  const records = new Map<string, SourceRecord>();
  for (const [uid, text] of Object.entries(data)) {
    const record = parseRecord(text);
    if (record === undefined) onMalformed(uid);
    else records.set(uid, record);
  }
  return records;
}

/** Undefined if a person has edited it so that it makes no sense. */
function parseRecord(text: string): SourceRecord | undefined {
  try {
    const record = JSON.parse(text) as SourceRecord;
    const { ref, seq, version, resourceVersion, at, notify, conditions = {}, sinks = {} } = record;
    const isSound =
      parseKey(ref) !== undefined &&
      Number.isSafeInteger(seq) &&
      isVersion(version) &&
      isTime(at) &&
      /^\d+$/.test(resourceVersion) &&
      isTextOrAbsent(notify) &&
      isMapOf('string', conditions);
    return isSound && Object.entries(sinks).every(isSinkRecord) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isSinkRecord([name, { version, at, pending = [] }]: readonly [string, SinkRecord]): boolean {
  const isSound =
    (version === undefined || /^[0-9a-f]{8}$/.test(version)) && (at === undefined || isTime(at));
  return isSinkName(name) && isSound && pending.every(isNotification);
}

function isNotification({ type, seq, version, at, ...more }: Notification): boolean {
  const { reason, previousVersion, resourceVersion, changedKeys = [], companions = {} } = more;
  return (
    EVENT_TYPES.includes(type) &&
    Number.isSafeInteger(seq) &&
    isVersion(version) &&
    isTime(at) &&
    [reason, previousVersion, resourceVersion].every(isTextOrAbsent) &&
    Array.isArray(changedKeys) &&
    changedKeys.every((key) => typeof key === 'string') &&
    isMapOf('number', companions)
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isMapOf(type: 'string' | 'number', value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((each) => typeof each === type);
}

function isVersion(text: unknown): boolean {
  return typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);
}

function isTime(text: unknown): boolean {
  return typeof text === 'string' && !Number.isNaN(Date.parse(text));
}
