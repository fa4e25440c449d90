import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { NewConfigMap } from '../kube/api/types.ts';
import { isNotFound } from '../kube/errors.ts';
import { type CompanionShape, newCompanion } from '../mirror/companion/companion.ts';
import type { Difference } from '../mirror/companion/drift.ts';
import { healingPatch, replacement } from '../mirror/companion/patch.ts';
import type { Content } from '../mirror/observe/content.ts';
import { type ObservedConfigMap, observeWritten } from '../mirror/observe/observed-config-map.ts';
import type { Vocabulary } from '../mirror/vocabulary.ts';
import { WithoutEffectError } from './failure.ts';
import type { MutationCache } from './mutation-cache.ts';
import type { WriteLimiter, WriteTurn } from './write-limiter.ts';

/** A companion and what is wrong with it. */
export interface Drifted {
  readonly actual: ObservedConfigMap;
  readonly differences: readonly Difference[];
}

/** What a companion is to hold, and its digest. */
export interface Wanted {
  readonly content: Content;
  readonly digest: string;
}

/**
 * The only place that writes to the cluster. Each write carries what makes it safe to repeat or to come too late: a
 * create fails where something is, an update, a patch and a delete fail where something has changed (SPEC R2, R8).
 * All methods reject with what the API rejects with.
 */
export class CompanionWriter {
  readonly #api: ConfigMapApi;
  readonly #limiter: WriteLimiter;
  readonly #mutations: MutationCache;
  readonly #vocabulary: Vocabulary;

  constructor(deps: {
    readonly api: ConfigMapApi;
    readonly limiter: WriteLimiter;
    readonly mutations: MutationCache;
    readonly vocabulary: Vocabulary;
  }) {
    this.#api = deps.api;
    this.#limiter = deps.limiter;
    this.#mutations = deps.mutations;
    this.#vocabulary = deps.vocabulary;
  }

  async create(key: ObjectKey, shape: CompanionShape, content: Content, turn: WriteTurn): Promise<void> {
    await this.#limiter.run(turn, () =>
      this.#create(key, newCompanion(key, shape, content, this.#vocabulary), shape.digest),
    );
  }

  /**
   * `wanted` is given when the content is among the differences. Resolves to the companion as it is then.
   * @throws WithoutEffectError when the server has taken the write and left everything as it was.
   */
  async update(
    { actual, differences }: Drifted,
    wanted: Wanted | undefined,
    turn: WriteTurn,
  ): Promise<ObservedConfigMap> {
    const { key, immutable } = actual;
    const patch = healingPatch(actual, differences, wanted?.content);
    const sent = { digest: wanted?.digest ?? actual.digest, immutable };
    try {
      return await this.#limiter.run(turn, () =>
        this.#mutations.follow(key, async () => {
          const result = observeWritten(await this.#api.patch(key, patch), sent);
          if (result.resourceVersion === actual.resourceVersion) throw new WithoutEffectError();
          return result;
        }),
      );
    } catch (error) {
      if (isNotFound(error)) this.#mutations.forget(actual.key);
      throw error;
    }
  }

  /** One that is gone already is as good as deleted. */
  async delete(actual: ObservedConfigMap, turn: WriteTurn): Promise<void> {
    await this.#limiter.run(turn, () => this.#delete(actual));
  }

  /** Deletes and creates in one turn, so that nothing of ours can come between (SPEC R12). */
  async replace(
    { actual, differences }: Drifted,
    { content, digest }: Wanted,
    turn: WriteTurn,
  ): Promise<void> {
    const next = replacement(actual, differences, content);
    await this.#limiter.run(turn, async () => {
      await this.#delete(actual);
      await this.#create(actual.key, next, digest);
    });
  }

  async #create(key: ObjectKey, body: NewConfigMap, digest: string): Promise<void> {
    const sent = { digest, immutable: false };
    await this.#mutations.follow(key, async () => observeWritten(await this.#api.create(body), sent));
  }

  async #delete(actual: ObservedConfigMap): Promise<void> {
    const { key, uid, resourceVersion } = actual;
    await this.#mutations.followDelete(actual, async () => {
      try {
        await this.#api.delete(key, { uid, resourceVersion });
      } catch (error) {
        // What we wanted, or a lost reply to our own first attempt.
        if (!isNotFound(error)) throw error;
      }
    });
  }
}
