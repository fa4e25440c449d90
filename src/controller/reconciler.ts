import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import { isNotFound } from '../kube/errors.ts';
import { companionShape } from '../mirror/companion/companion.ts';
import { mayDelete } from '../mirror/companion/ownership.ts';
import type { Content } from '../mirror/observe/content.ts';
import { type ObservedConfigMap, observe } from '../mirror/observe/observed-config-map.ts';
import { planSource } from '../mirror/plan/plan.ts';
import { planOrphans } from '../mirror/plan/removal.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import type { MirrorRequest } from '../mirror/request/request.ts';
import type { Lane } from '../workqueue/queue.ts';
import { DONE, type PassResult, type PassRunner } from './pass-runner.ts';
import type { Reports } from './reports.ts';
import { type SourceBodies, StaleSourceError } from './source-bodies.ts';
import type { Desired } from './step-runner.ts';

export interface ReconcilerDeps {
  readonly view: ClusterView;
  readonly api: Pick<ConfigMapApi, 'get'>;
  readonly bodies: SourceBodies;
  readonly reports: Reports;
  readonly passes: PassRunner;
  /** Whether the view knows the namespaces: before, a source that targets some cannot be judged. */
  readonly namespacesKnown: () => boolean;
}

/**
 * Makes true what a source asks for. Level-triggered: it is told a source key, not what happened, computes what should
 * be from the caches, and writes the difference (SPEC R1).
 */
export class Reconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /**
   * One pass over one source and its companions. Never two at once for one key: the queue sees to that.
   * @throws what a read of the source throws; failed writes are in the result instead.
   */
  async reconcile(key: ObjectKey, lane: Lane): Promise<PassResult> {
    const { view, reports } = this.#deps;
    const { namespaces } = view.settings.bounds;
    // A companion may refer to a source that another controller looks after (SPEC P2).
    if (namespaces !== undefined && !namespaces.has(splitKey(key).namespace)) return DONE;
    const source = view.configMap(key);
    if (source?.request === undefined) return this.#reconcileOrphans(key, lane);
    if (!source.request.ok) {
      reports.invalidSource(key, source.request.problem);
      return DONE;
    }
    reports.validSource(key);
    return this.#reconcileSource(source, source.request.value, lane);
  }

  async #reconcileSource(source: ObservedConfigMap, request: MirrorRequest, lane: Lane): Promise<PassResult> {
    const { view, bodies, passes, namespacesKnown } = this.#deps;
    // They come soon, and every source that targets namespaces is enqueued then.
    if (request.targets !== undefined && !namespacesKnown()) return DONE;
    const shape = companionShape(source, request, view.settings.vocabulary);
    let content: Promise<Content> | undefined;
    const desired: Desired = {
      shape,
      content: () => {
        content ??= bodies.selectedContent(source, request);
        return content;
      },
    };
    return passes.run({ key: source.key, source, steps: planSource(shape, view), desired }, lane);
  }

  /** The key is no source's any more; what it left behind is judged after a live read (SPEC R3). */
  async #reconcileOrphans(key: ObjectKey, lane: Lane): Promise<PassResult> {
    const { view, bodies, reports, passes } = this.#deps;
    bodies.forget(key);
    reports.validSource(key);
    const identity = { key, uid: undefined };
    const left = view
      .referrers(identity)
      .filter((object) => mayDelete(object, identity, view.settings.vocabulary));
    const plan = { key, source: undefined, desired: undefined };
    if (left.length === 0) return passes.run({ ...plan, steps: [] }, lane);
    if (left.some((object) => this.#mayBeClaimed(object)))
      throw new StaleSourceError('whose they are cannot be said before the namespaces are known');
    const live = await this.#liveSource(key);
    if (live?.request !== undefined)
      throw new StaleSourceError('the source is there, and not in the cache yet');
    return passes.run({ ...plan, source: live, steps: planOrphans(key, live, view) }, lane);
  }

  /** Whether a source that targets namespaces may turn out to ask for the object, once they are known. */
  #mayBeClaimed(object: ObservedConfigMap): boolean {
    const { view, namespacesKnown } = this.#deps;
    return (
      !namespacesKnown() &&
      view.claimants(object.key).some(({ request }) => request?.ok && request.value.targets !== undefined)
    );
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
}
