import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { CompanionShape } from '../../mirror/companion/companion.ts';
import { remarksOn, remarksOnOrphans } from '../../mirror/explain/remarks.ts';
import { type ObservedConfigMap, observe, usesOf } from '../../mirror/observe/observed-config-map.ts';
import { dependsOnNamespaces } from '../../mirror/plan/concerns.ts';
import { desiredOf } from '../../mirror/plan/desired.ts';
import { companionsLeft, planOrphans } from '../../mirror/plan/orphans.ts';
import { planSource } from '../../mirror/plan/plan.ts';
import { planUnconsented } from '../../mirror/plan/removal.ts';
import { rolloutOnceQuiet } from '../../mirror/plan/settle.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Rendering } from '../../mirror/render/rendering.ts';
import { valuesVersion } from '../../mirror/render/values.ts';
import type { Rollout } from '../../mirror/rollout/rollout.ts';
import type { Deletions } from '../memory/deletions.ts';
import { StaleSourceError } from '../memory/failure.ts';
import type { Reports } from '../memory/reports.ts';
import type { SourceVersions } from '../memory/source-versions.ts';
import type { Renderings } from '../write/renderings.ts';
import type { SourceBodies } from '../write/source-bodies.ts';

export interface PlannerDeps {
  readonly view: ClusterView;
  readonly api: Pick<ConfigMapApi, 'get'>;
  readonly bodies: Pick<SourceBodies, 'forget'>;
  readonly renderings: Pick<Renderings, 'prepare'>;
  readonly deletions: Pick<Deletions, 'plans'>;
  readonly versions: Pick<SourceVersions, 'isFlapping'>;
  readonly reports: Pick<Reports, 'invalidSource' | 'validSource'>;
  /** Until they are, a source that depends on namespaces cannot be planned. */
  readonly areNamespacesSynced: () => boolean;
}

/** What to do about the companions of one source. */
export interface Plan {
  /** The version that the plan was made from; undefined when it is gone. */
  readonly source: ObservedConfigMap | undefined;
  /** Undefined when the source is gone, unlabelled or invalid. */
  readonly shape: CompanionShape | undefined;
  readonly steps: readonly Step[];
  /** Undefined: no revisions are kept. */
  readonly rollout: Rollout | undefined;
}

const NOTHING: Plan = { source: undefined, shape: undefined, steps: [], rollout: undefined };

/** Plans one source from the caches, and reports what its author should know. */
export class Planner {
  readonly #deps: PlannerDeps;

  constructor(deps: PlannerDeps) {
    this.#deps = deps;
  }

  /** Undefined: no plan is possible yet, so everything stays as it is. */
  async plan(key: ObjectKey): Promise<Plan | undefined> {
    const { view, reports, versions, areNamespacesSynced } = this.#deps;
    const { vocabulary } = view.settings;
    const source = view.configMap(key);
    if (source?.request === undefined) return this.#planOrphans(key);
    if (!source.request.ok) {
      reports.invalidSource(key, source.request.problem);
      return { ...NOTHING, source, steps: planUnconsented(source, view) };
    }
    const request = source.request.value;
    // Every source that depends on namespaces is queued once they are synced.
    if (dependsOnNamespaces(source, vocabulary) && !areNamespacesSynced()) return undefined;
    const rendering = usesOf(source) && (await this.#render(source));
    const { shape, rollout } = desiredOf(source, request, rendering, view);
    const steps = this.#counted(key, planSource(shape, view));
    const isFlapping = versions.isFlapping(key);
    reports.validSource(key, remarksOn(source, steps, view, { rollout, isFlapping }));
    const rolling = source.deleting ? undefined : rolloutOnceQuiet(rollout, steps, shape, view);
    return { source, shape, steps, rollout: rolling };
  }

  /** While it reads and renders, the source may change; the event queues it again. */
  async #render(source: ObservedConfigMap): Promise<Rendering | undefined> {
    const { view, renderings } = this.#deps;
    const rendering = await renderings.prepare(source);
    const isSame = view.configMap(source.key) === source;
    if (!isSame || valuesVersion(source, view) !== rendering?.valuesVersion) {
      throw new StaleSourceError('the source or its values have changed while it was rendered');
    }
    return rendering;
  }

  /** The source is gone or unlabelled. A live read confirms it before anything else (SPEC R3). */
  async #planOrphans(key: ObjectKey): Promise<Plan> {
    const { view, bodies, reports } = this.#deps;
    bodies.forget(key);
    const left = companionsLeft(key, view);
    if (left.length === 0) {
      reports.validSource(key, []);
      return NOTHING;
    }
    if (left.some((object) => this.#mayBeClaimed(object))) {
      throw new StaleSourceError(
        'the namespaces must be known first: another source may ask for its companions',
      );
    }
    const live = await this.#liveSource(key);
    if (live?.request !== undefined)
      throw new StaleSourceError('the source exists, and is not in the cache yet');
    const steps = this.#counted(key, planOrphans(key, live, view));
    reports.validSource(key, remarksOnOrphans(key, live, steps, view));
    return { ...NOTHING, source: live, steps };
  }

  /** Whether another source may claim the object once the namespaces are known. */
  #mayBeClaimed(object: ObservedConfigMap): boolean {
    const { view, areNamespacesSynced } = this.#deps;
    const targetsNamespaces = ({ request }: ObservedConfigMap) => request?.ok && request.value.targets;
    return !areNamespacesSynced() && view.claimants(object.key).some(targetsNamespaces);
  }

  async #liveSource(key: ObjectKey): Promise<ObservedConfigMap | undefined> {
    const { api, view } = this.#deps;
    try {
      return observe(await api.get(key), view.settings.vocabulary);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * The same steps, whose deletions all other plans count from now on. Not a moment later: several
   * plans are made before the first is carried out.
   */
  #counted(key: ObjectKey, steps: readonly Step[]): readonly Step[] {
    const counted = steps.flatMap((step) => (step.action === 'delete' && step.counts ? [step.actual] : []));
    this.#deps.deletions.plans(key, counted);
    return steps;
  }
}
