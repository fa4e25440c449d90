import { isAlreadyExists } from '../../kube/errors.ts';
import { isControlledBy } from '../../mirror/companion/ownership.ts';
import { type ObservedConfigMap, observe } from '../../mirror/observe/observed-config-map.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import { isRevisionOf, newRevision, type RevisionStep } from '../../mirror/rollout/revision-step.ts';
import { BlockedError, NotYetError } from '../memory/failure.ts';
import { createFollowed, deleteFollowed, type FollowedWriteDeps, patchFollowed } from './followed-writes.ts';
import type { SourceBodies } from './source-bodies.ts';

export interface RevisionWriteDeps extends FollowedWriteDeps {
  readonly view: Pick<ClusterView, 'settings'>;
  readonly bodies: Pick<SourceBodies, 'content'>;
}

/**
 * Writes a revision of the source (SPEC D4). Resolves to what was done: `none` if the revision that
 * should be kept is there already.
 * @throws BlockedError if an unrelated object has its name, NotYetError if a revision there is
 * being deleted, RevertedError if the server reverts a mark, or what the API throws.
 */
export async function writeRevision(
  step: RevisionStep,
  source: ObservedConfigMap,
  deps: RevisionWriteDeps,
): Promise<RevisionStep['action'] | 'none'> {
  switch (step.action) {
    case 'keep':
      return keep(step, source, deps);
    case 'mark':
      await patchFollowed(step.actual, step.differences, undefined, deps);
      return 'mark';
    case 'drop':
      await deleteFollowed(step.actual, deps);
      return 'drop';
  }
}

async function keep(
  step: Extract<RevisionStep, { readonly action: 'keep' }>,
  source: ObservedConfigMap,
  deps: RevisionWriteDeps,
): Promise<'keep' | 'none'> {
  const { view, api, bodies, mutations } = deps;
  const { vocabulary } = view.settings;
  const body = newRevision(source, step, await bodies.content(source), vocabulary);
  try {
    await createFollowed(body, source.digest, deps);
    return 'keep';
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  // It may be the revision, whose create got no reply.
  const met = observe(await api.get(step.companion), vocabulary);
  if (isRevisionOf(met, source, vocabulary) && met.digest === source.digest) {
    await mutations.follow(met.key, async () => met);
    return 'none';
  }
  // Garbage collection deletes what belongs to an earlier source of this name.
  const isOfEarlier =
    isControlledBy(met, { key: source.key, uid: undefined }) && !isControlledBy(met, source);
  if (met.deleting || isOfEarlier)
    throw new NotYetError('an earlier revision of this name must be deleted first');
  throw new BlockedError('a ConfigMap with this name exists and is not a revision of the source');
}
