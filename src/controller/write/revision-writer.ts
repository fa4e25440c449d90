import { isAlreadyExists } from '../../kube/errors.ts';
import { isControlledBy } from '../../mirror/companion/ownership.ts';
import { type ObservedConfigMap, observe } from '../../mirror/observe/observed-config-map.ts';
import { isRevisionOf, newRevision, type RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Vocabulary } from '../../mirror/vocabulary.ts';
import { BlockedError, LeavingError } from '../memory/failure.ts';
import { createFollowed, deleteFollowed, type FollowedWriteDeps, patchFollowed } from './followed-writes.ts';
import type { SourceBodies } from './source-bodies.ts';

export interface RevisionWriterDeps extends FollowedWriteDeps {
  readonly vocabulary: Vocabulary;
  readonly bodies: SourceBodies;
}

type Of<A extends RevisionStep['action']> = Extract<RevisionStep, { readonly action: A }>;

/** Writes the revisions of sources (SPEC D4), with the preconditions of companions. */
export class RevisionWriter {
  readonly #deps: RevisionWriterDeps;

  constructor(deps: RevisionWriterDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves to what was done: `none` if the revision that should be kept is there already.
   * @throws BlockedError if an unrelated object has its name, LeavingError if a revision there is
   * being deleted, WithoutEffectError if the server reverts a mark, or what the API throws.
   */
  async write(step: RevisionStep, source: ObservedConfigMap): Promise<RevisionStep['action'] | 'none'> {
    switch (step.action) {
      case 'keep':
        return this.#keep(step, source);
      case 'mark':
        await patchFollowed(step.actual, step.differences, undefined, this.#deps);
        return 'mark';
      case 'drop':
        await deleteFollowed(step.actual, this.#deps);
        return 'drop';
    }
  }

  async #keep(step: Of<'keep'>, source: ObservedConfigMap) {
    const { vocabulary, bodies } = this.#deps;
    const body = newRevision(source, step, await bodies.content(source), vocabulary);
    try {
      await createFollowed(body, source.digest, this.#deps);
      return 'keep';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#meet(step, source);
    }
  }

  /** The object at the name may be the revision, whose create got no reply. */
  async #meet({ companion }: Of<'keep'>, source: ObservedConfigMap): Promise<'none'> {
    const { vocabulary, api, mutations } = this.#deps;
    const met = observe(await api.get(companion), vocabulary);
    if (isRevisionOf(met, source, vocabulary) && met.digest === source.digest) {
      await mutations.follow(companion, async () => met);
      return 'none';
    }
    // Garbage collection deletes what belongs to an earlier source of this name.
    const isOfEarlier =
      isControlledBy(met, { key: source.key, uid: undefined }) && !isControlledBy(met, source);
    if (met.deleting || isOfEarlier)
      throw new LeavingError('an earlier revision of this name must be deleted first');
    throw new BlockedError('a ConfigMap with this name exists and is not a revision of the source');
  }
}
