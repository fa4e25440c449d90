import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isCompanionOf, type SourceIdentity } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { withBrake } from './brake.ts';
import { isLeftOver, planOrphan } from './removal.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * The companions that refer to a source which the cache does not have. If there are any, a live
 * read decides what {@link planOrphans} does about them (SPEC R3).
 */
export function companionsLeft(source: ObjectKey, view: ClusterView): readonly ObservedConfigMap[] {
  const identity = { key: source, uid: undefined };
  return view
    .referrers(identity)
    .filter((object) => isCompanionOf(object, identity, view.settings.vocabulary));
}

/**
 * Plan for the companions of a source that is gone or unlabelled (SPEC R3, R4).
 * @param live what a live read found at the source's key; undefined: nothing
 */
export function planOrphans(
  source: ObjectKey,
  live: ObservedConfigMap | undefined,
  view: ClusterView,
): readonly Step[] {
  const identity: SourceIdentity = { key: source, uid: live?.uid };
  const steps = view
    .referrers(identity)
    .filter((object) => isLeftOver(object, identity, view))
    .map((object) => planOrphan(object, identity, live, view));
  return withBrake(source, live, steps, view);
}
