import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { type CompanionShape, desiredEdition } from '../../mirror/companion/companion.ts';
import { claims } from '../../mirror/plan/claims.ts';
import { planCompanion } from '../../mirror/plan/plan.ts';
import type { Step } from '../../mirror/plan/step.ts';
import { valuesVersion } from '../../mirror/render/values.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { DelayingQueue } from '../../workqueue/delaying-queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import { describeError, judge } from '../memory/failure.ts';
import type { Heal } from '../memory/happening.ts';
import type { Reports } from '../memory/reports.ts';
import { type CompanionWriteDeps, writeCompanion } from './companion-writes.ts';
import { writeRevision } from './revision-writes.ts';
import type { Pass, Write } from './write-queue.ts';
import {
  bringsContent,
  type CompanionWriteStep,
  intentOf,
  isOfDesired,
  isOfRevision,
  shapeOf,
  type WriteStep,
} from './write-step.ts';

export interface WriterDeps extends CompanionWriteDeps {
  readonly memory: CompanionMemory;
  readonly reports: Reports;
  /** Gets the keys of sources that need another pass. */
  readonly queue: DelayingQueue<ObjectKey>;
  /** While it returns false, steps are dropped, and `api` sends no write. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The only place that writes to the cluster. It carries out one step of a plan and records how it
 * ended. Each request is safe to repeat and safe to be late: a create fails if an object exists, a
 * patch or a delete if the object has changed (SPEC R2, R8).
 */
export class Writer {
  readonly #deps: WriterDeps;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  /**
   * Makes one write, unless the plan is out of date. Never rejects: after a failure it queues the
   * source again (see `judge`).
   */
  async write({ pass, step }: Write): Promise<void> {
    if (this.#isCurrent(pass, step)) await this.#attempt(pass, step);
    pass.report.ended();
  }

  /**
   * Whether none of the pass may be written any more. The event that changed the source or its
   * values has queued it; after the loss of the Lease, everything is queued once it is held again.
   */
  isOutdated({ key, source, shape, yieldsAt }: Pass): boolean {
    const { view, queue, mayWrite, clock } = this.#deps;
    if (!mayWrite() || (queue.isAwaited(key) && clock.now() >= yieldsAt)) return true;
    const now = view.configMap(key);
    const isSameSource = source?.request === undefined ? now?.request === undefined : now === source;
    const isSameContent =
      shape?.rendering === undefined || valuesVersion(shape.source, view) === shape.rendering.valuesVersion;
    return !isSameSource || !isSameContent;
  }

  /** Whether a plan would still contain the step. If not, the source is queued for another pass. */
  #isCurrent(pass: Pass, step: WriteStep): boolean {
    if (this.isOutdated(pass)) return false;
    const { view, queue } = this.#deps;
    const { key, shape, lane } = pass;
    const actual = 'actual' in step ? step.actual : undefined;
    // A permission of its namespace may have changed while the step waited in the write queue.
    const isWanted = shape !== undefined && claims(shape.source, step.companion, view);
    const isSameNamespace = isOfRevision(step) || isOfDesired(step) === isWanted;
    if (isSameNamespace && view.configMap(step.companion) === actual) return true;
    queue.add(key, lane);
    return false;
  }

  async #attempt(pass: Pass, step: WriteStep): Promise<void> {
    const begunAt = this.#deps.clock.now();
    try {
      if (isOfRevision(step)) await this.#writeRevision(pass, step, begunAt);
      else await this.#writeCompanion(pass, step, begunAt);
    } catch (error) {
      // Otherwise the Lease was lost meanwhile, and everything is queued once it is held again.
      if (this.#deps.mayWrite()) this.#failed(pass, step, error, begunAt);
    }
  }

  async #writeRevision(pass: Pass, step: RevisionStep, begunAt: number): Promise<void> {
    const { memory, reports, queue } = this.#deps;
    const { key, lane, report } = pass;
    const done = await writeRevision(step, shapeOf(pass).source, this.#deps);
    report.wroteRevision(step, done, begunAt);
    memory.succeeded(key, step.companion);
    reports.written(key, step.companion);
    // The plan depends on what is kept, and the watch event of our own write queues no pass.
    if (done !== 'drop') queue.add(key, lane);
  }

  async #writeCompanion(pass: Pass, step: CompanionWriteStep, begunAt: number): Promise<void> {
    const { memory, reports, queue } = this.#deps;
    const { key, shape, lane, report } = pass;
    const { companion } = step;
    const done = await writeCompanion(step, pass, this.#deps);
    const { sourceVersion } = intentOf(step, pass);
    report.wrote(step, done, begunAt, this.#healBy(pass, step, done, sourceVersion));
    const isFight = isWrite(done) && memory.wrote(key, companion, sourceVersion);
    if (!isWrite(done)) memory.succeeded(key, companion);
    if (isFight) reports.fight(key, companion, editedBy(done));
    else reports.written(key, companion);
    if (shape !== undefined && this.#isAltered(done, shape)) queue.add(key, lane);
    // A delete of our own ends the companion's history of heals (SPEC R14).
    if (done.action === 'delete') memory.forget(key, companion);
  }

  /**
   * Whether a policy has altered what we created. The next pass reports it if it cannot be healed.
   */
  #isAltered({ action, companion }: Step, shape: CompanionShape): boolean {
    const { view } = this.#deps;
    const made = action === 'create' || action === 'replace' ? view.configMap(companion) : undefined;
    return made !== undefined && planCompanion(companion, made, shape, view).action !== 'none';
  }

  /** Set if the write has undone another client's change, seen in the watch or in the companion. */
  #healBy(
    { key, shape }: Pass,
    step: CompanionWriteStep,
    done: Step,
    sourceVersion: string,
  ): Heal | undefined {
    const { memory, view } = this.#deps;
    if (!isWrite(done)) return undefined;
    const heal = { editedBy: editedBy(done) };
    const isSeen = memory.isHeal(key, step.companion, sourceVersion);
    if (!bringsContent(step)) return isSeen ? heal : undefined;
    const { namespace, digest, annotations } = step.actual;
    const checksum = annotations[view.settings.vocabulary.sourceChecksum];
    // It holds what was last written, and should hold something else now.
    if (checksum === digest) return undefined;
    // With the source's checksum and other content, it was edited while the controller was down.
    const wasRight = shape !== undefined && checksum === desiredEdition(namespace, shape).digest;
    return isSeen || wasRight ? heal : undefined;
  }

  #failed(pass: Pass, step: WriteStep, error: unknown, begunAt: number): void {
    const { key, lane, report } = pass;
    const { memory, reports, queue, log } = this.#deps;
    const { companion, action } = step;
    const failure = judge(error);
    const { quiet } = failure;
    const delayMs = memory.failed(key, companion, intentOf(step, pass).fingerprint, failure);
    const willRetry = Number.isFinite(delayMs);
    const fields = { source: key, companion, action, error: describeError(error) };
    log.debug({ ...fields, ...(willRetry && { retryInMs: Math.round(delayMs) }) }, 'companion not written');
    report.failed(step, begunAt, failure);
    if (!quiet) reports.failed(key, step, error);
    // Retries after real failures are bulk, so that fresh changes overtake them.
    if (willRetry) queue.addAfter(key, delayMs, quiet ? lane : 'bulk');
  }
}

/** Whether the companion now has what it should have because of us. */
const isWrite = ({ action }: Step): boolean => action !== 'delete' && action !== 'none';
const editedBy = (step: Step): string | undefined => ('actual' in step ? step.actual.editedBy : undefined);
