import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { differencesFromRetained } from '../companion/drift.ts';
import { isCompanionOf, isControlledBy, mayDelete, type SourceIdentity } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { DeletionPolicy } from '../request/request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { claims } from './claims.ts';
import { boundsRefusal, consentRefusal, isKnown } from './placement.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * Plan for a source that is no longer one, as a live read has found it: gone, or without its label. Its companions are
 * deleted (SPEC R3, R4), unless they are to be retained.
 */
export function planOrphans(
  source: ObjectKey,
  live: ObservedConfigMap | undefined,
  view: ClusterView,
): readonly Step[] {
  const { vocabulary } = view.settings;
  const identity: SourceIdentity = { key: source, uid: live?.uid };
  const steps: Step[] = [];
  for (const object of view.referrers(identity)) {
    if (!isOursToRemove(object, identity, view)) continue;
    if (live === undefined && isControlledBy(object, identity)) {
      const reason = 'the source is gone; garbage collection deletes its companion';
      steps.push({ action: 'none', companion: object.key, state: 'waiting', reason });
      continue;
    }
    const policy = statedPolicy(live ?? object, vocabulary);
    const reason = live === undefined ? 'the source is gone' : 'the source is no longer labelled';
    steps.push(planRemoval(object, { source: identity, policy, reason }, view));
  }
  return steps;
}

/**
 * Whether an object that refers to the source may be removed with it: it is the source's, and no other source takes it for
 * its own. Otherwise its reference is wrong, and will be healed.
 */
export function isOursToRemove(
  object: ObservedConfigMap,
  source: SourceIdentity,
  view: ClusterView,
): boolean {
  return mayDelete(object, source, view.settings.vocabulary) && !isClaimedByAnother(object, source.key, view);
}

function isClaimedByAnother(object: ObservedConfigMap, source: ObjectKey, view: ClusterView): boolean {
  return view
    .claimants(object.key)
    .some(
      (other) =>
        other.key !== source &&
        claims(other, object.key, view) &&
        isCompanionOf(object, other, view.settings.vocabulary),
    );
}

/** Anything but a plain `delete` retains: a typo must not destroy (SPEC R4). */
function statedPolicy(object: ObservedConfigMap, vocabulary: Vocabulary): DeletionPolicy {
  const stated = object.annotations[vocabulary.deletionPolicy];
  return stated === undefined || stated === 'delete' ? 'delete' : 'retain';
}

/** Why a companion is no longer needed, and what its source wants to happen then. */
export interface Removal {
  readonly source: SourceIdentity;
  readonly policy: DeletionPolicy;
  readonly reason: string;
}

/** What to do about a companion that its source should not have. */
export function planRemoval(
  actual: ObservedConfigMap,
  { source, policy, reason }: Removal,
  view: ClusterView,
): Step {
  const companion = actual.key;
  const { bounds, vocabulary } = view.settings;
  const from = splitKey(source.key).namespace;
  const refused = (objection: string): Step => ({
    action: 'none',
    companion,
    state: 'refused',
    reason: `${reason}, but ${objection}`,
    named: true,
  });
  const forbidden = boundsRefusal(actual.namespace, from, bounds);
  if (forbidden !== undefined) return refused(forbidden);
  const waiting = (what: string): Step => ({ action: 'none', companion, state: 'waiting', reason: what });
  if (actual.deleting) return waiting('the companion is being deleted');
  const namespace = view.namespace(actual.namespace);
  if (namespace?.active === false) return waiting('the namespace is being deleted');
  const objection = namespace && consentRefusal(namespace, from, bounds);
  if (namespace !== undefined && objection !== undefined && !isKnown(namespace.consent)) {
    return refused(objection);
  }
  if (policy === 'delete') return { action: 'delete', companion, state: 'unwanted', reason, actual };
  if (objection !== undefined) {
    return { action: 'delete', companion, state: 'unwanted', reason: objection, actual };
  }
  const differences = differencesFromRetained(actual, source, vocabulary);
  if (differences.length === 0) {
    return { action: 'none', companion, state: 'retained', reason: `${reason}; its policy is retain` };
  }
  const marking = `${reason}; marking it as retained`;
  return { action: 'update', companion, state: 'retained', reason: marking, actual, differences };
}
