import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import { isControlledBy } from '../../mirror/companion/ownership.ts';
import { healingPatch } from '../../mirror/companion/patch.ts';
import { mapsIn } from '../../mirror/observe/content.ts';
import { type ObservedConfigMap, observe, observeWritten } from '../../mirror/observe/observed-config-map.ts';
import { isRevisionOf, newRevision, type RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Vocabulary } from '../../mirror/vocabulary.ts';
import { BlockedError, LeavingError } from '../memory/failure.ts';
import type { MutationCache } from './mutation-cache.ts';
import type { SourceBodies } from './source-bodies.ts';

export interface RevisionWriterDeps {
  readonly vocabulary: Vocabulary;
  readonly api: ConfigMapApi;
  readonly bodies: SourceBodies;
  readonly mutations: MutationCache;
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
   * being deleted, or what the API throws.
   */
  async write(step: RevisionStep, source: ObservedConfigMap): Promise<RevisionStep['action'] | 'none'> {
    switch (step.action) {
      case 'keep':
        return this.#keep(step, source);
      case 'mark':
        await this.#mark(step);
        return 'mark';
      case 'drop':
        await this.#drop(step);
        return 'drop';
    }
  }

  async #keep(step: Of<'keep'>, source: ObservedConfigMap) {
    const { vocabulary, api, bodies, mutations } = this.#deps;
    const content = await bodies.content(source);
    const body = newRevision(source, step, content, vocabulary);
    const { digest } = source;
    try {
      await mutations.follow(step.companion, async () =>
        observeWritten(await api.create(body), { digest, immutable: true, ...mapsIn(content) }),
      );
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

  async #mark({ actual, differences }: Of<'mark'>): Promise<void> {
    const { api, mutations } = this.#deps;
    try {
      await mutations.follow(actual.key, async () =>
        observeWritten(await api.patch(actual.key, healingPatch(actual, differences, undefined)), actual),
      );
    } catch (error) {
      if (isNotFound(error)) mutations.forget(actual.key);
      throw error;
    }
  }

  async #drop({ actual }: Of<'drop'>): Promise<void> {
    await deleteFollowed(actual, this.#deps);
  }
}

/** A 404 counts as success: an earlier attempt, or somebody else, has deleted it. */
export async function deleteFollowed(
  actual: ObservedConfigMap,
  { api, mutations }: Pick<RevisionWriterDeps, 'api' | 'mutations'>,
): Promise<void> {
  const { key, uid, resourceVersion } = actual;
  await mutations.followDelete(actual, async () => {
    try {
      await api.delete(key, { uid, resourceVersion });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  });
}
