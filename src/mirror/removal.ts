import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import { claims } from './claims.ts';
import type { ObservedConfigMap } from './observed.ts';
import { isCompanionOf, isControlledBy, mayDelete, type SourceIdentity } from './ownership.ts';
import { boundsRefusal, consentRefusal } from './placement.ts';
import type { DeletionPolicy } from './request.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Plan for a source that is no longer one, as a live read has found it: gone, or there without the label. What it
 * left behind goes (SPEC R3, R4), unless it was to be retained.
 */
export function planOrphans(
  source: ObjectKey,
  live: ObservedConfigMap | undefined,
  view: ClusterView,
): readonly Step[] {
  const { namespace } = splitKey(source);
  const { vocabulary } = view.settings;
  const identity: SourceIdentity = { key: source, uid: live?.uid };
  const steps: Step[] = [];
  for (const object of view.referrers(identity)) {
    if (!isOursToRemove(object, identity, view)) continue;
    if (live === undefined && isControlledBy(object, identity)) {
      const reason = 'the source is gone; garbage collection takes it';
      steps.push({ action: 'none', companion: object.key, state: 'waiting', reason });
      continue;
    }
    const policy = statedPolicy(live ?? object, vocabulary);
    const reason = live === undefined ? 'the source is gone' : 'the source is no longer labelled';
    steps.push(planRemoval(object, namespace, policy, reason, view));
  }
  return steps;
}

/**
 * Whether an object that refers to the source may go with it: it is the source's, and no other source takes it for its own;
 * else its reference is wrong, and will be healed.
 */
export function isOursToRemove(
  object: ObservedConfigMap,
  source: SourceIdentity,
  view: ClusterView,
): boolean {
  return mayDelete(object, source, view.settings.vocabulary) && !isClaimedAnew(object, source.key, view);
}

function isClaimedAnew(object: ObservedConfigMap, source: ObjectKey, view: ClusterView): boolean {
  return view
    .claimants(object.key)
    .some(
      (other) =>
        other.key !== source &&
        claims(other, object.key, view) &&
        isCompanionOf(object, other, view.settings.vocabulary),
    );
}

/** The policy that an object states itself; anything but a plain `delete` keeps, since what is bad fails closed. */
function statedPolicy(object: ObservedConfigMap, vocabulary: Vocabulary): DeletionPolicy {
  return (object.annotations[vocabulary.deletionPolicy] ?? 'delete') === 'delete' ? 'delete' : 'retain';
}

/** What to do about a companion, proven ours to delete, that a source of namespace `from` should not have. */
export function planRemoval(
  actual: ObservedConfigMap,
  from: string,
  policy: DeletionPolicy,
  reason: string,
  view: ClusterView,
): Step {
  const companion = actual.key;
  const forbidden = boundsRefusal(actual.namespace, from, view.settings.bounds);
  if (forbidden !== undefined) {
    return { action: 'none', companion, state: 'refused', reason: `${reason}, but ${forbidden}` };
  }
  if (actual.deleting) return { action: 'none', companion, state: 'waiting', reason: 'it is being deleted' };
  const namespace = view.namespace(actual.namespace);
  if (namespace?.active === false) {
    return { action: 'none', companion, state: 'waiting', reason: 'the namespace is being deleted' };
  }
  if (policy === 'retain') {
    const objection = namespace && consentRefusal(namespace, from, view.settings.bounds);
    if (objection === undefined || namespace?.consent.kind === 'unreadable') {
      return { action: 'none', companion, state: 'retained', reason: `${reason}; its policy is to retain` };
    }
    return { action: 'delete', companion, state: 'unwanted', reason: objection, actual };
  }
  return { action: 'delete', companion, state: 'unwanted', reason, actual };
}
