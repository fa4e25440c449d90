import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import { isAlreadyExists, isNotFound } from '../kube/errors.ts';
import type { CompanionShape } from '../mirror/companion/companion.ts';
import { mayDelete } from '../mirror/companion/ownership.ts';
import type { Content } from '../mirror/observe/content.ts';
import { observe } from '../mirror/observe/observed-config-map.ts';
import { planCompanion } from '../mirror/plan/plan.ts';
import type { Step } from '../mirror/plan/step.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import type { CompanionWriter, Drifted } from './companion-writer.ts';
import { BlockedError, LeavingError } from './failure.ts';
import type { WriteTurn } from './write-limiter.ts';

/** A step that asks for more than to be left alone. */
export type WriteStep = Exclude<Step, { readonly action: 'none' }>;

/** What a step that creates or updates needs to know of the source. */
export interface Desired {
  readonly shape: CompanionShape;
  /** What companions hold; asked for only when it is to be written. */
  content(): Promise<Content>;
}

/** Turns one step of a plan into API calls. */
export class StepRunner {
  readonly #view: ClusterView;
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #writer: CompanionWriter;

  constructor(deps: {
    readonly view: ClusterView;
    readonly api: Pick<ConfigMapApi, 'get'>;
    readonly writer: CompanionWriter;
  }) {
    this.#view = deps.view;
    this.#api = deps.api;
    this.#writer = deps.writer;
  }

  /**
   * `desired` is needed for whatever writes content. Resolves to what was done in the end: a create that meets our own
   * companion becomes an update of it, or nothing.
   * @throws BlockedError when something that is not ours has the name, LeavingError when it is being deleted; else
   * what the API throws.
   */
  async run(step: WriteStep, desired: Desired | undefined, turn: WriteTurn): Promise<Step['action']> {
    switch (step.action) {
      case 'delete':
        await this.#writer.delete(step.actual, turn);
        return 'delete';
      case 'update':
        await this.#update(step, desired, turn);
        return 'update';
      case 'create':
        return this.#create(step.companion, needed(desired), turn);
      case 'replace':
        return this.#replace(step, needed(desired), turn);
      case 'defer':
        return this.#defer(step, needed(desired), turn);
    }
  }

  async #create(companion: ObjectKey, desired: Desired, turn: WriteTurn): Promise<Step['action']> {
    try {
      await this.#writer.create(companion, desired.shape, await desired.content(), turn);
      return 'create';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#meet(companion, desired, turn);
    }
  }

  async #update(step: Drifted, desired: Desired | undefined, turn: WriteTurn): Promise<void> {
    if (!step.differences.some((difference) => difference.kind === 'content')) {
      await this.#writer.update(step, undefined, turn);
      return;
    }
    const { shape, content } = needed(desired);
    await this.#writer.update(step, { content: await content(), digest: shape.digest }, turn);
  }

  async #replace(step: Drifted, desired: Desired, turn: WriteTurn): Promise<Step['action']> {
    const { shape } = desired;
    const content = await desired.content();
    // What does not say itself that it is our companion is never deleted (SPEC R8), so it has to say so first.
    const marks = step.differences.filter((difference) => difference.kind !== 'content');
    const actual = mayDelete(step.actual, shape.source, this.#view.settings.vocabulary)
      ? step.actual
      : await this.#writer.update({ ...step, differences: marks }, undefined, turn);
    try {
      await this.#writer.replace({ ...step, actual }, { content, digest: shape.digest }, turn);
      return 'replace';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return this.#meet(actual.key, desired, turn);
    }
  }

  /** Leaves the name to the source that comes first, unless our own companion turns out to be there. */
  async #defer(
    step: Extract<WriteStep, { action: 'defer' }>,
    desired: Desired,
    turn: WriteTurn,
  ): Promise<Step['action']> {
    try {
      return await this.#meet(step.companion, desired, turn);
    } catch (error) {
      if (isNotFound(error)) throw new BlockedError(step.reason);
      throw error;
    }
  }

  /**
   * There is something at the name that the watch does not show: our own companion whose label was stripped or whose
   * create we got no reply to, one that is on its way out, or something that is none of ours (SPEC R2, R6).
   */
  async #meet(companion: ObjectKey, desired: Desired, turn: WriteTurn): Promise<Step['action']> {
    const actual = observe(await this.#api.get(companion), this.#view.settings.vocabulary);
    const step = planCompanion(companion, actual, desired.shape, this.#view);
    if (step.action === 'none') {
      if (step.state === 'conflict') throw new BlockedError(step.reason);
      if (step.state === 'waiting') throw new LeavingError(step.reason);
      return 'none';
    }
    return this.run(step, desired, turn);
  }
}

function needed(desired: Desired | undefined): Desired {
  if (desired === undefined) throw new TypeError('a step that writes content needs to know what is desired');
  return desired;
}
