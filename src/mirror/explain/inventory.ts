import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Difference } from '../companion/drift.ts';
import { isValues, type ObservedConfigMap, sourceReference, usesOf } from '../observe/observed-config-map.ts';
import { isRevision } from '../observe/revision.ts';
import { type Desired, desiredOf } from '../plan/desired.ts';
import { companionsLeft, planOrphans } from '../plan/orphans.ts';
import { isOutOfScope } from '../plan/placement.ts';
import { planSource } from '../plan/plan.ts';
import { isLeftOver, planUnconsented } from '../plan/removal.ts';
import { rolloutOnceQuiet } from '../plan/settle.ts';
import type { Step } from '../plan/step.ts';
import type { ClusterView } from '../plan/view.ts';
import type { Rendering } from '../render/rendering.ts';
import type { Vocabulary } from '../vocabulary.ts';

/**
 * Where companions stand. Each is in exactly one state (SPEC C3).
 * - `missing`: it will be created, or its namespace does not exist yet.
 * - `invalid`: its source has a malformed annotation, or a placeholder has no value there, so it
 *   stays as it is.
 * - `held`: no source wants it, and the brake holds its deletion.
 * - `orphaned`: no source wants it. It will be deleted or, if it belongs to no source, left alone.
 * - the others: as in {@link Step}.
 */
export const COMPANION_STATES = [
  'in sync',
  'drifted',
  'missing',
  'conflict',
  'refused',
  'invalid',
  'retained',
  'held',
  'waiting',
  'orphaned',
] as const;

export type CompanionState = (typeof COMPANION_STATES)[number];

/** What the controller would do about one companion, and why. */
export interface Entry {
  /** Undefined: the companion names no source. */
  readonly source: ObjectKey | undefined;
  /** Undefined: an invalid source that has no companion. */
  readonly companion: ObjectKey | undefined;
  readonly action: Step['action'];
  readonly state: CompanionState;
  readonly reason: string;
  /** Of an update or a replacement. */
  readonly differences?: readonly Difference[];
  /** Of one that waits: until when (ms since the epoch), if that is known. */
  readonly until?: number;
  /** Of a refusal: whether the source names the namespace exactly. */
  readonly named?: boolean;
}

/** What live reads found at the keys of `absentSources`; undefined: nothing. */
export type LiveSources = ReadonlyMap<ObjectKey, ObservedConfigMap | undefined>;

/** Of the sources that have something to render, by their keys. */
export type RenderingsBySource = ReadonlyMap<ObjectKey, Rendering>;

/** The source that an object names, if the cache should have it and does not. */
export function absentSource(object: ObservedConfigMap, view: ClusterView): ObjectKey | undefined {
  const source = sourceReference(object, view.settings.vocabulary);
  if (object.request !== undefined || source === undefined) return undefined;
  if (isRevision(object, view.settings.vocabulary)) return undefined;
  return view.configMap(source)?.request !== undefined || isOutOfScope(source, view) ? undefined : source;
}

/**
 * An entry for every companion that exists or should exist. It calls the same plans as the
 * reconciler, so it says what the controller would do.
 * @param objects every ConfigMap in the view
 */
export function takeInventory(
  objects: Iterable<ObservedConfigMap>,
  live: LiveSources,
  renderings: RenderingsBySource,
  view: ClusterView,
): readonly Entry[] {
  const entries: Entry[] = [];
  const others: ObservedConfigMap[] = [];
  for (const object of objects) {
    if (isRevision(object, view.settings.vocabulary)) continue;
    if (object.request === undefined) others.push(object);
    else entries.push(...entriesOfSource(object, renderings.get(object.key), view));
  }
  for (const [source, found] of live) entries.push(...entriesOfAbsentSource(source, found, view));
  const covered = new Set(entries.map(({ companion }) => companion));
  for (const object of others) {
    if (!covered.has(object.key)) entries.push(...nobodys(object, view));
  }
  return entries;
}

/** `rendering`: of a source that has something to render; undefined: its content is not known. */
export function entriesOfSource(
  source: ObservedConfigMap,
  rendering: Rendering | undefined,
  view: ClusterView,
): readonly Entry[] {
  const { key, request } = source;
  if (!request?.ok) return entriesOfInvalidSource(source, request?.problem ?? '', view);
  if (source.deleting) {
    return entriesOfStuckSource(source, 'waiting', 'the source is being deleted', view);
  }
  if (usesOf(source) !== undefined && rendering === undefined) {
    return leftAsTheyAre(key, companionsOf(source, view), 'waiting', 'its content must be read first');
  }
  const desired = desiredOf(source, request.value, rendering, view);
  const { pin } = request.value.rollout ?? {};
  const steps = planSource(desired.shape, view);
  const blocked = whyBlocked(desired, steps, view);
  return steps.map((step) => {
    const entry = entryOf(key, blocked === undefined ? step : blockedBy(step, blocked));
    return pin !== undefined && entry.state === 'in sync' ? { ...entry, reason: `pinned to ${pin}` } : entry;
  });
}

/**
 * Why nothing may be written now to companions that the source wants: a different object has the
 * name of the revision that must be kept first (SPEC D4). Undefined: it may.
 */
export function whyBlocked(
  { shape, rollout }: Desired,
  steps: readonly Step[],
  view: ClusterView,
): string | undefined {
  const first = rolloutOnceQuiet(rollout, steps, shape, view)?.steps.find(({ action }) => action === 'keep');
  return first?.actual === undefined || first.actual.deleting
    ? undefined
    : `ConfigMap ${first.companion} exists and is not a revision of the source, so companions stay as they are`;
}

/** `reason`: as of {@link whyBlocked}. */
export function blockedBy(step: Step, reason: string): Step {
  return isBlockable(step) ? { companion: step.companion, reason, action: 'none', state: 'conflict' } : step;
}

/** Whether it is in conflict if the name of the companion, or of the revision, is taken. */
export function isBlockable({ state }: Pick<Step | Entry, 'state'>): boolean {
  return state === 'missing' || state === 'drifted';
}

function entriesOfInvalidSource(
  source: ObservedConfigMap,
  problem: string,
  view: ClusterView,
): readonly Entry[] {
  const entries = entriesOfStuckSource(source, 'invalid', problem, view);
  if (entries.length > 0) return entries;
  return [{ source: source.key, companion: undefined, action: 'none', state: 'invalid', reason: problem }];
}

/** Its companions stay as they are, except where consent was withdrawn. */
function entriesOfStuckSource(
  source: ObservedConfigMap,
  state: 'waiting' | 'invalid',
  reason: string,
  view: ClusterView,
): readonly Entry[] {
  const refused = planUnconsented(source, view).map((step) => entryOf(source.key, step));
  const covered = new Set(refused.map(({ companion }) => companion));
  const others = companionsOf(source, view).filter(({ key }) => !covered.has(key));
  return [...refused, ...leftAsTheyAre(source.key, others, state, reason)];
}

/** Entries of companions whose source is not planned. */
export function leftAsTheyAre(
  source: ObjectKey,
  companions: readonly ObservedConfigMap[],
  state: 'waiting' | 'invalid',
  reason: string,
): readonly Entry[] {
  return companions.map(({ key: companion }) => ({ source, companion, action: 'none', state, reason }));
}

/** The companions of a source that is not planned. */
export function companionsOf(source: ObservedConfigMap, view: ClusterView): readonly ObservedConfigMap[] {
  return view.referrers(source).filter((object) => isLeftOver(object, source, view));
}

/** `live`: what a live read found; undefined: nothing. */
export function entriesOfAbsentSource(
  source: ObjectKey,
  live: ObservedConfigMap | undefined,
  view: ClusterView,
): readonly Entry[] {
  if (live?.request === undefined) {
    return planOrphans(source, live, view).map((step) => entryOf(source, step));
  }
  const reason = 'the source exists, and is not in the cache yet';
  return leftAsTheyAre(source, companionsLeft(source, view), 'waiting', reason);
}

/**
 * A ConfigMap with our label that belongs to no source. The controller leaves it alone. One with
 * values gets no entry.
 */
export function nobodys(object: ObservedConfigMap, view: ClusterView): readonly Entry[] {
  const { vocabulary } = view.settings;
  if (isValues(object, vocabulary)) return [];
  const source = sourceReference(object, vocabulary);
  const entry = { source, companion: object.key, action: 'none' } as const;
  if (source !== undefined && isOutOfScope(source, view)) {
    return [{ ...entry, state: 'refused', reason: "its source's namespace is not among --namespaces" }];
  }
  const reason = source === undefined ? 'it names no source' : whyNotOf(source, object, vocabulary);
  return [{ ...entry, state: 'orphaned', reason }];
}

/** Why an object that refers to the source is not its companion (SPEC R6). */
export function whyNotOf(source: ObjectKey, object: ObservedConfigMap, vocabulary: Vocabulary): string {
  const self = object.annotations[vocabulary.companion];
  return self !== undefined && self !== object.key
    ? `it is a copy of ${self}`
    : `it lacks the marks of a companion of ${source}`;
}

export function entryOf(source: ObjectKey, step: Step): Entry {
  const { companion, action, reason } = step;
  return {
    source,
    companion,
    action,
    state: stateOf(step.state),
    reason,
    ...('differences' in step && { differences: step.differences }),
    ...('until' in step && { until: step.until }),
    ...('named' in step && { named: step.named }),
  };
}

function stateOf(state: Step['state']): CompanionState {
  if (state === 'no namespace') return 'missing';
  if (state === 'unresolved') return 'invalid';
  if (state === 'delayed') return 'waiting';
  return state === 'unwanted' ? 'orphaned' : state;
}
