import type { Clock } from '../../clock/clock.ts';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { CompanionShape } from '../../mirror/companion/companion.ts';
import { type ObservedConfigMap, observe } from '../../mirror/observe/observed-config-map.ts';
import { dependsOnNamespaces } from '../../mirror/plan/concerns.ts';
import { desiredOf } from '../../mirror/plan/desired.ts';
import { isOutOfScope } from '../../mirror/plan/inventory.ts';
import { companionsLeft, planOrphans } from '../../mirror/plan/orphans.ts';
import { planSource } from '../../mirror/plan/plan.ts';
import { remarksOn, remarksOnOrphans } from '../../mirror/plan/remarks.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Rendering } from '../../mirror/render/rendering.ts';
import { valuesVersion } from '../../mirror/render/values.ts';
import type { MirrorRequest } from '../../mirror/request/request.ts';
import type { Rollout } from '../../mirror/rollout/rollout.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { DelayingQueue } from '../../workqueue/delaying-queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { Deletions } from '../memory/deletions.ts';
import { describeError, isOutage, judge, StaleSourceError, type Verdict } from '../memory/failure.ts';
import type { CompanionCounts, Listener } from '../memory/happening.ts';
import type { Reports } from '../memory/reports.ts';
import type { SourceVersions } from '../memory/source-versions.ts';
import { PassReport } from '../write/pass-report.ts';
import type { Renderings } from '../write/renderings.ts';
import type { SourceBodies } from '../write/source-bodies.ts';
import { intentOf, type WriteQueue } from '../write/write-queue.ts';
import { type CompanionWriteStep, isOfRevision, type WriteStep } from '../write/write-step.ts';

export interface ReconcilerDeps {
  readonly view: ClusterView;
  readonly api: Pick<ConfigMapApi, 'get'>;
  readonly bodies: SourceBodies;
  readonly renderings: Pick<Renderings, 'prepare'>;
  readonly memory: CompanionMemory;
  readonly deletions: Pick<Deletions, 'begins'>;
  readonly versions: Pick<SourceVersions, 'isFlapping'>;
  readonly reports: Reports;
  readonly queue: DelayingQueue<ObjectKey>;
  readonly writes: Pick<WriteQueue, 'add'>;
  /** Until they are, a source that depends on namespaces cannot be planned. */
  readonly areNamespacesSynced: () => boolean;
  /** Report what would be written, and write nothing. */
  readonly dryRun: boolean;
  /** While it returns false, keys are dropped. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tell: Listener;
}

/** What to do about the companions of one source. */
interface Plan {
  /** The version that the plan was made from; undefined when it is gone. */
  readonly source: ObservedConfigMap | undefined;
  /** Undefined when the source is gone, unlabelled or invalid. */
  readonly shape: CompanionShape | undefined;
  readonly steps: readonly Step[];
  /** Undefined: no revisions are kept. */
  readonly rollout: Rollout | undefined;
}

const NONE: CompanionCounts = {};
const NOTHING: Plan = { source: undefined, shape: undefined, steps: [], rollout: undefined };

/**
 * Gets a source key, not what happened to it: it compares what should exist with what exists, and
 * queues the writes that are needed (SPEC R1).
 */
export class Reconciler {
  readonly #deps: ReconcilerDeps;

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /**
   * One pass over one source and its companions. Resolves when its writes have begun; the writer
   * handles their answers. Never rejects: if it cannot read the source, it queues the key again.
   */
  async reconcile(key: ObjectKey): Promise<void> {
    const { memory, mayWrite, clock } = this.#deps;
    if (!mayWrite()) return;
    const begunAt = clock.now();
    let plan: Plan | undefined;
    try {
      plan = await this.#plan(key);
      memory.succeeded(key, key);
    } catch (error) {
      const { quiet } = this.#retry(key, error);
      this.#tellUnplanned(key, quiet ? 'stale' : 'failed', begunAt);
    }
    if (plan !== undefined) await this.#carryOut(key, plan, begunAt);
  }

  /** Undefined: no plan is possible yet, so everything stays as it is. */
  async #plan(key: ObjectKey): Promise<Plan | undefined> {
    const { view, reports, versions, areNamespacesSynced } = this.#deps;
    const { vocabulary } = view.settings;
    // The key may come from a companion whose source is not ours to watch (SPEC P2).
    if (isOutOfScope(key, view)) return undefined;
    const source = view.configMap(key);
    if (source?.request === undefined) return this.#planOrphans(key);
    if (!source.request.ok) {
      reports.invalidSource(key, source.request.problem);
      return { ...NOTHING, source };
    }
    const request = source.request.value;
    // Every source that depends on namespaces is queued once they are synced.
    if (dependsOnNamespaces(source, vocabulary) && !areNamespacesSynced()) return undefined;
    const rendering = source.uses && (await this.#render(source));
    const { shape, rollout } = desiredOf(source, request, rendering, view);
    const steps = this.#counted(key, planSource(shape, view));
    const isFlapping = versions.isFlapping(key);
    reports.validSource(key, remarksOn(source, steps, vocabulary, { rollout, isFlapping }));
    return { source, shape, steps, rollout: source.deleting ? undefined : rollout };
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
    reports.validSource(key, remarksOnOrphans(key, steps, view.settings.vocabulary));
    return { ...NOTHING, source: live, steps };
  }

  /** Whether another source may claim the object once the namespaces are known. */
  #mayBeClaimed(object: ObservedConfigMap): boolean {
    const { view, areNamespacesSynced } = this.#deps;
    const targetsNamespaces = ({ request }: ObservedConfigMap) => request?.ok && hasTargets(request.value);
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

  /** Reports what is left alone, sets aside what must wait, and queues the other writes. */
  async #carryOut(key: ObjectKey, plan: Plan, begunAt: number): Promise<void> {
    const { memory, reports, queue, writes, dryRun, clock, log, tell } = this.#deps;
    const { source, shape, steps } = plan;
    const ofRevisions = plan.rollout?.steps ?? [];
    for (const step of steps) this.#leave(key, step);
    const toBeWritten = [...steps.filter(isToBeWritten), ...ofRevisions];
    const isOver = (companion: ObjectKey) => reports.over(key, companion);
    if (memory.hasAny(key)) memory.keepOnly(key, [...steps, ...ofRevisions], isOver);
    this.#planAgain(key, plan);
    const lane = queue.laneOf(key);
    // How far a canary is depends on its writes, and their own watch events queue no pass.
    const onEnd = plan.rollout?.state === 'rolling out' ? () => queue.add(key, lane) : undefined;
    const isHeldBack = plan.rollout?.isHeldBack === true;
    const reportOn = (writes: number) =>
      new PassReport({ key, source, steps, writes, isHeldBack, begunAt, clock, log, tell, onEnd });
    if (dryRun) {
      for (const step of toBeWritten) reports.wouldWrite(key, step);
      reportOn(0).tellReconciled();
      return;
    }
    const waits = this.#waitsOf(key, toBeWritten, plan);
    // Once the revisions say what is to be, the source is planned again (SPEC D4, D6).
    const isSaid = ofRevisions.every(({ action }) => action === 'drop');
    const isFirst = (step: WriteStep) => isSaid || isOfRevision(step) || !isOfDesired(step);
    const ready = toBeWritten.filter((step) => !waits.has(step) && isFirst(step));
    const nextMs = Math.min(...waits.values());
    if (Number.isFinite(nextMs)) queue.addAfter(key, nextMs + slackMs(waits.size), 'bulk');
    const report = reportOn(ready.length);
    const isBlocked = ({ companion }: WriteStep) => memory.problem(key, companion)?.kind === 'conflict';
    for (const step of waits.keys()) if (!isOfRevision(step) && isBlocked(step)) report.inConflict(step);
    if (ready.length === 0) report.tellReconciled();
    await writes.add({ key, source, shape, lane, report }, ready);
  }

  /**
   * The same steps, whose deletions all other plans count from now on. Not a moment later: several
   * plans are made before the first is carried out.
   */
  #counted(key: ObjectKey, steps: readonly Step[]): readonly Step[] {
    for (const step of steps) {
      if (step.action === 'delete' && step.counts) {
        this.#deps.deletions.begins(splitKey(key).namespace, step.actual);
      }
    }
    return steps;
  }

  #leave(key: ObjectKey, step: Step): void {
    const { memory, reports } = this.#deps;
    if (step.action === 'none') reports.leftAlone(key, step);
    if (step.state === 'delayed') memory.delayed(key, step.companion);
  }

  /** When the first of what waits for a time is due. */
  #planAgain(key: ObjectKey, { steps, rollout }: Plan): void {
    const { view, queue } = this.#deps;
    let nextAt = rollout?.until;
    for (const step of steps) if ('until' in step) nextAt = Math.min(step.until, nextAt ?? step.until);
    if (nextAt !== undefined) queue.addAfter(key, Math.max(1, nextAt - view.now()));
  }

  /** The writes that may not begin yet, each with the time (ms) to wait. */
  #waitsOf(key: ObjectKey, steps: readonly WriteStep[], plan: Plan) {
    const waits = new Map<WriteStep, number>();
    for (const step of steps) {
      const ms = this.#deps.memory.waitMs(key, step.companion, intentOf(step, plan));
      if (ms > 0) waits.set(step, ms);
    }
    return waits;
  }

  #tellUnplanned(source: ObjectKey, result: 'failed' | 'stale', begunAt: number): void {
    const { view, clock, tell } = this.#deps;
    const object = view.configMap(source);
    const durationMs = clock.now() - begunAt;
    tell({ type: 'reconciled', source, object, result, durationMs, companions: NONE, inSync: false });
  }

  #retry(key: ObjectKey, error: unknown): Verdict {
    const { memory, queue, reports, log } = this.#deps;
    const verdict = judge(error);
    const { failure, quiet } = verdict;
    const delayMs = memory.failed(key, key, '', failure);
    const fields = { source: key, error: describeError(error), retryInMs: Math.round(delayMs) };
    if (isOutage(error)) reports.serverFails(error);
    log[quiet || isOutage(error) ? 'debug' : 'warn'](fields, 'reconcile failed; retrying');
    if (Number.isFinite(delayMs)) queue.addAfter(key, delayMs);
    return verdict;
  }
}

const isToBeWritten = (step: Step): step is CompanionWriteStep => step.action !== 'none';
/** Not if nobody wants the companion: what happens to it does not depend on any content. */
const isOfDesired = ({ state }: CompanionWriteStep): boolean =>
  state !== 'unwanted' && state !== 'held' && state !== 'retained';
const hasTargets = ({ targets }: MirrorRequest): boolean => targets !== undefined;

/** Delay (ms) of the next pass so that it finds several companions due: 1 each, at most 1 s. */
function slackMs(waiting: number): number {
  return Math.min(1000, waiting - 1);
}
