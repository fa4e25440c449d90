import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { ifFound, isForbidden } from '../../kube/errors.ts';
import type { CompanionShape } from '../../mirror/companion/companion.ts';
import { blockedBy, whyBlocked } from '../../mirror/explain/inventory.ts';
import { isUnconfirmed } from '../../mirror/explain/live-reads.ts';
import { type ObservedConfigMap, observe } from '../../mirror/observe/observed-config-map.ts';
import { planCompanion } from '../../mirror/plan/plan.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import { isRevisionOf, type RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Rollout } from '../../mirror/rollout/rollout.ts';
import type { Plan, Planner } from './planner.ts';
import { ReadQueue } from './read-queue.ts';

export interface DryRunPlannerDeps {
  readonly planner: Pick<Planner, 'plan'>;
  readonly api: Pick<ConfigMapApi, 'get'>;
  readonly view: ClusterView;
}

/**
 * Plans what the writer would do. It meets an object without our label only when it writes, so a
 * dry run reads each name that looks free (SPEC C4).
 */
export class DryRunPlanner {
  readonly #deps: DryRunPlannerDeps;
  readonly #reads = new ReadQueue();

  constructor(deps: DryRunPlannerDeps) {
    this.#deps = deps;
  }

  /** As `Planner.plan` does. Rejects with what a live read fails with, too. */
  async plan(key: ObjectKey): Promise<Plan | undefined> {
    const plan = await this.#deps.planner.plan(key);
    if (plan?.shape === undefined) return plan;
    const { shape, steps } = plan;
    const rollout = plan.rollout && (await this.#meetNamesake(plan.rollout, shape.source));
    const blocked = whyBlocked({ shape, rollout }, steps, this.#deps.view);
    return rollout === undefined || blocked === undefined
      ? { ...plan, steps: await this.#meetAll(steps, shape) }
      : { ...plan, rollout: { ...rollout, steps: [] }, steps: steps.map((step) => blockedBy(step, blocked)) };
  }

  /** The rollout, in which the step that keeps a revision knows what has its name. */
  async #meetNamesake(rollout: Rollout, source: ObservedConfigMap): Promise<Rollout> {
    const { vocabulary } = this.#deps.view.settings;
    const steps = rollout.steps.map(async (step): Promise<RevisionStep> => {
      if (step.action !== 'keep') return step;
      const actual = await this.#read(step.companion);
      // The revision itself may have been kept a moment ago.
      return actual === undefined || isRevisionOf(actual, source, vocabulary) ? step : { ...step, actual };
    });
    return { ...rollout, steps: await Promise.all(steps) };
  }

  async #meetAll(steps: readonly Step[], shape: CompanionShape): Promise<readonly Step[]> {
    const met = new Map<ObjectKey, Step>();
    await this.#reads.each(steps.filter(isUnconfirmed), async ({ companion }) => {
      const found = await this.#read(companion);
      if (found !== undefined) met.set(companion, planCompanion(companion, found, shape, this.#deps.view));
    });
    return steps.map((step) => met.get(step.companion) ?? step);
  }

  async #read(key: ObjectKey): Promise<ObservedConfigMap | undefined> {
    try {
      const object = await ifFound(this.#deps.api.get(key));
      return object && observe(object, this.#deps.view.settings.vocabulary);
    } catch (error) {
      // One namespace that refuses must not hide what would be written in the others.
      if (isForbidden(error)) return undefined;
      throw error;
    }
  }
}
