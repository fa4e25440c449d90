/**
 * What the cache cannot show, because it lacks our label: which objects must be read for an
 * inventory, and what that changes.
 */
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { revisionKey } from '../observe/revision.ts';
import { desiredOf } from '../plan/desired.ts';
import { companionsLeft } from '../plan/orphans.ts';
import { planCompanion } from '../plan/plan.ts';
import type { ClusterView } from '../plan/view.ts';
import { absentSource, type Entry, entryOf, type RenderingsBySource } from './inventory.ts';

/**
 * The sources that companions refer to and the cache does not have. Only a live read shows whether
 * they are gone or unlabelled (SPEC R3).
 */
export function absentSources(
  objects: Iterable<ObservedConfigMap>,
  view: ClusterView,
): ReadonlySet<ObjectKey> {
  const absent = new Set<ObjectKey>();
  for (const object of objects) {
    const source = absentSource(object, view);
    if (source !== undefined) absent.add(source);
  }
  for (const source of absent) if (companionsLeft(source, view).length === 0) absent.delete(source);
  return absent;
}

/**
 * The keys of the revisions that must be kept. Only a live read shows whether an object without our
 * label has the name (SPEC D4).
 */
export function missingRevisions(
  objects: Iterable<ObservedConfigMap>,
  view: ClusterView,
): readonly ObjectKey[] {
  const sources = [...objects].filter(({ request }) => request?.ok && request.value.rollout?.keepRevisions);
  const keys = sources.map((source) => revisionKey(source, source.digest));
  return keys.filter((key) => view.configMap(key) === undefined);
}

/** Whether the object at the companion's name must be read: one without our label may be there. */
export function isUnconfirmed({ action }: Pick<Entry, 'action'>): boolean {
  return action === 'create' || action === 'defer';
}

/**
 * An unconfirmed entry once the object at its companion's name is known, which the cache does not
 * have (SPEC R6).
 * @param actual what a live read found at the name; undefined: nothing
 */
export function entryMeeting(
  entry: Entry,
  actual: ObservedConfigMap | undefined,
  renderings: RenderingsBySource,
  view: ClusterView,
): Entry {
  const source = entry.source && view.configMap(entry.source);
  if (actual === undefined || entry.companion === undefined || !source?.request?.ok) {
    return entry.action === 'defer' ? { ...entry, action: 'none' } : entry;
  }
  const { shape } = desiredOf(source, source.request.value, renderings.get(source.key), view);
  return entryOf(source.key, planCompanion(entry.companion, actual, shape, view));
}
