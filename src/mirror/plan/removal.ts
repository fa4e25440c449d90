import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { differencesFromRetained } from '../companion/drift.ts';
import { isCompanionOf, isControlledBy, mayDelete, type SourceIdentity } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { quoted } from '../parsed.ts';
import { type Duration, parseDuration } from '../request/duration.ts';
import type { DeletionPolicy, MirrorRequest } from '../request/request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { claims } from './claims.ts';
import { permissionIn } from './placement.ts';
import { type Step, waiting } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * Whether an object that refers to the source is its companion, and no other source claims it. If
 * another does, that source heals the reference.
 */
export function isLeftOver(object: ObservedConfigMap, source: SourceIdentity, view: ClusterView): boolean {
  return (
    object.key !== source.key &&
    isCompanionOf(object, source, view.settings.vocabulary) &&
    !isClaimedByOther(object, source.key, view)
  );
}

function isClaimedByOther(object: ObservedConfigMap, source: ObjectKey, view: ClusterView): boolean {
  return view
    .claimants(object.key)
    .some(
      (other) =>
        other.key !== source &&
        claims(other, object.key, view) &&
        isCompanionOf(object, other, view.settings.vocabulary),
    );
}

/** The policy that an object states. Anything but a plain `delete` retains: it may be a typo. */
function statedPolicy(object: ObservedConfigMap, vocabulary: Vocabulary): DeletionPolicy {
  return (object.annotations[vocabulary.deletionPolicy] ?? 'delete') === 'delete' ? 'delete' : 'retain';
}

/** The delay that an object states. A malformed one is longer than any: it may be a typo. */
function statedDelay(object: ObservedConfigMap, vocabulary: Vocabulary): Duration | undefined {
  const text = object.annotations[vocabulary.deleteAfter];
  if (text === undefined) return undefined;
  const delay = parseDuration(text);
  return delay.ok ? delay.value : { ms: Number.POSITIVE_INFINITY, text: quoted(text) };
}

/** What to do about a companion that its source no longer wants ({@link isLeftOver}). */
export function planLeftOver(
  actual: ObservedConfigMap,
  source: ObservedConfigMap,
  request: MirrorRequest,
  view: ClusterView,
): Step {
  // The watch of ConfigMaps may be ahead of that of Namespaces, even for the source's own one.
  const isUnseen = request.targets !== undefined && view.namespace(actual.namespace) === undefined;
  if (isUnseen && actual.namespace === source.namespace) {
    return waiting(actual.key, 'the namespace has not been seen yet');
  }
  const { deletionPolicy: policy, deleteAfter } = request;
  return planRemoval(actual, { source, policy, deleteAfter, reason: whyUndesired(actual, request) }, view);
}

/**
 * Plan for a source that has no other, because it is invalid or being deleted: whatever it says,
 * withdrawn consent does not wait for it (SPEC P3).
 */
export function planUnconsented(source: ObservedConfigMap, view: ClusterView): readonly Step[] {
  return view.referrers(source).flatMap((object) => {
    const permission = permissionIn(object.namespace, source.namespace, view);
    const isRefused = permission.kind === 'unconsented' && !object.deleting;
    if (!isRefused || !isLeftOver(object, source, view)) return [];
    const step = planDeletion(object, source, { reason: permission.reason, counts: false }, view);
    return step.action === 'delete' ? [step] : [];
  });
}

function whyUndesired(actual: ObservedConfigMap, request: MirrorRequest): string {
  if (actual.name !== request.companionName) {
    return `companions of the source are named ${request.companionName} now`;
  }
  return request.targets === undefined
    ? 'the source no longer targets namespaces'
    : 'the source no longer targets the namespace';
}

/**
 * What to do about a companion whose source is gone or unlabelled ({@link isLeftOver}).
 * @param live what a live read found at the source's key; undefined: nothing
 */
export function planOrphan(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  live: ObservedConfigMap | undefined,
  view: ClusterView,
): Step {
  if (live === undefined && isControlledBy(actual, source)) {
    return waiting(actual.key, 'the source is gone; garbage collection deletes its companion');
  }
  const { vocabulary } = view.settings;
  const policy = statedPolicy(live ?? actual, vocabulary);
  const deleteAfter = statedDelay(live ?? actual, vocabulary);
  const reason = live === undefined ? 'the source is gone' : 'the source is no longer labelled';
  return planRemoval(actual, { source, policy, deleteAfter, reason }, view);
}

interface Removal {
  readonly source: SourceIdentity;
  readonly policy: DeletionPolicy;
  readonly deleteAfter: Duration | undefined;
  readonly reason: string;
}

/** What to do about a companion that its source should not have ({@link isLeftOver}). */
function planRemoval(
  actual: ObservedConfigMap,
  { source, policy, deleteAfter, reason }: Removal,
  view: ClusterView,
): Step {
  const companion = actual.key;
  if (actual.deleting) return waiting(companion, 'the companion is being deleted');
  const { namespace: from } = splitKey(source.key);
  const permission = permissionIn(actual.namespace, from, view);
  switch (permission.kind) {
    case 'permitted':
      return policy === 'retain' || isRetainedByEarlier(actual, source, view.settings.vocabulary)
        ? planRetention(actual, source, reason, view)
        : delayed(planDeletion(actual, source, { reason, counts: true }, view), source, deleteAfter, view);
    case 'unconsented':
      return planDeletion(actual, source, { reason: permission.reason, counts: false }, view);
    case 'forbidden': {
      const refusal = `${reason}, but ${permission.reason}`;
      return { action: 'none', companion, state: 'refused', reason: refusal, named: true, unsaid: false };
    }
    case 'terminating':
      return waiting(companion, 'the namespace is being deleted');
    case 'absent':
      return waiting(companion, 'the namespace is gone, or has not been seen yet');
  }
}

/** Whether an earlier source of the name retained it, and this one never wanted it (SPEC R4). */
function isRetainedByEarlier(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): boolean {
  const isEarlier = actual.annotations[vocabulary.sourceUid] !== source.uid;
  return isEarlier && statedPolicy(actual, vocabulary) === 'retain';
}

/** A companion that does not carry its own name may be a copy of one, so it stays (SPEC R8). */
function planDeletion(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  { reason, counts }: { readonly reason: string; readonly counts: boolean },
  view: ClusterView,
): Step {
  const companion = actual.key;
  if (mayDelete(actual, source, view.settings.vocabulary)) {
    return { action: 'delete', companion, state: 'unwanted', reason, actual, counts };
  }
  const doubt = `${reason}, but ${view.settings.vocabulary.companion} does not name it, so it may be a copy`;
  return { action: 'none', companion, state: 'conflict', reason: doubt };
}

/** A deletion, once the companion has been unwanted for long enough (SPEC D3). */
function delayed(
  step: Step,
  source: SourceIdentity,
  deleteAfter: Duration | undefined,
  view: ClusterView,
): Step {
  if (step.action !== 'delete' || deleteAfter === undefined) return step;
  const { companion, actual } = step;
  // It was due before the controller restarted.
  if (waveOn(actual, view.settings.vocabulary) !== undefined) return step;
  const unwantedMs = view.unwantedMs(source.key, companion);
  if (unwantedMs !== undefined && unwantedMs >= deleteAfter.ms) return step;
  const reason = `${step.reason}; it is deleted after ${deleteAfter.text} without being wanted`;
  const until = unwantedMs === undefined ? undefined : view.now() + deleteAfter.ms - unwantedMs;
  const isKnown = until !== undefined && Number.isFinite(until);
  return { action: 'none', companion, state: 'delayed', reason, ...(isKnown && { until }) };
}

/** Marks the companion as retained (SPEC R4), then leaves it alone. */
function planRetention(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  reason: string,
  view: ClusterView,
): Step {
  const companion = actual.key;
  const differences = differencesFromRetained(actual, source, view.settings.vocabulary);
  if (differences.length === 0) {
    return { action: 'none', companion, state: 'retained', reason: `${reason}; its policy is retain` };
  }
  const marking = `${reason}; marking it as retained`;
  return { action: 'update', companion, state: 'retained', reason: marking, actual, differences };
}

/** The wave with which a companion is marked as held; undefined: it is not. */
export function waveOn(companion: ObservedConfigMap, vocabulary: Vocabulary): string | undefined {
  const wave = companion.annotations[vocabulary.held];
  return wave !== undefined && /^[0-9a-f]{8}$/.test(wave) ? wave : undefined;
}
