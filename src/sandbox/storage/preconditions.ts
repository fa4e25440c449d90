/** Optimistic locking: whether an update is meant for the object as it is now. */
import { invalid, invalidObject } from '../kinds/field-errors.ts';
import { type Kind, resourceName } from '../kinds/kinds.ts';
import { quoted } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { conflict, StatusError } from '../objects/status.ts';
import { keyOf } from './object-store.ts';

/** Where an object lives. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly name: string;
}

const STALE = 'the object has been modified; please apply your changes to the latest version and try again';

/**
 * Throws when the update names a uid that the live object (absent when there is none) does not
 * have.
 */
export function refuseOtherUid(
  { kind, namespace, name }: Target,
  uid: string | undefined,
  live: KubeObject | undefined,
): void {
  const actual = live?.metadata.uid ?? '';
  if (uid === undefined || uid === actual) return;
  const key = `/registry/${kind.collection}/${keyOf(namespace, name)}`.replace('//', '/');
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${actual}`;
  throw conflict(resourceName(kind), name, why);
}

/** Throws when the update names a resourceVersion other than the live one. */
export function refuseStale({ kind, name }: Target, changed: KubeObject, live: KubeObject): void {
  const version = changed.metadata.resourceVersion ?? '';
  const revision = version === '' ? 0 : storedRevision(version);
  if (revision === 0) {
    if (kind.unconditionalUpdate) return;
    throw invalidObject(resourceName(kind), name, [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (version !== live.metadata.resourceVersion) throw conflict(resourceName(kind), name, STALE);
}

/** The real server parses an object's own resourceVersion too late for a proper refusal. */
function storedRevision(version: string): number {
  if (/^\d+$/.test(version)) return Number(version);
  throw new StatusError(500, '', `strconv.ParseUint: parsing ${quoted(version)}: invalid syntax`);
}
