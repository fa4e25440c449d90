import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { DelayingQueue } from '../../workqueue/delaying-queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import { describeError, isOutage, judge } from '../memory/failure.ts';
import type { Listener } from '../memory/happening.ts';
import type { Reports } from '../memory/reports.ts';
import { PassReport } from '../write/pass-report.ts';
import type { WriteQueue } from '../write/write-queue.ts';
import {
  type CompanionWriteStep,
  intentOf,
  isOfDesired,
  isOfRevision,
  type WriteStep,
} from '../write/write-step.ts';
import type { Plan, Planner } from './planner.ts';

/**
 * A fresh change ends a pass, so that a heal need not wait for a fan-out. But companions may change
 * faster than a large source is planned. So a pass goes on for at least this many times as long as
 * its planning took.
 */
const WRITING_PER_PLANNING = 4;
/** But not longer than this (ms): planning may wait for an answer of the API server. */
const MOST_UNYIELDING_MS = 5_000;

export interface ReconcilerDeps {
  readonly planner: Pick<Planner, 'plan'>;
  readonly view: Pick<ClusterView, 'configMap' | 'now'>;
  readonly memory: CompanionMemory;
  readonly reports: Reports;
  readonly queue: DelayingQueue<ObjectKey>;
  readonly writes: Pick<WriteQueue, 'add'>;
  /** Report what would be written, and write nothing. */
  readonly dryRun: boolean;
  /** While it returns false, keys are dropped. */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly emit: Listener;
}

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
    const { planner, memory, mayWrite, clock } = this.#deps;
    if (!mayWrite()) return;
    const begunAt = clock.now();
    let plan: Plan | undefined;
    try {
      plan = await planner.plan(key);
    } catch (error) {
      this.#failed(key, error, begunAt);
      return;
    }
    memory.succeeded(key, key);
    if (plan !== undefined) await this.#carryOut(key, plan, begunAt);
  }

  /** Reports what is left alone, sets aside what must wait, and queues the other writes. */
  async #carryOut(key: ObjectKey, plan: Plan, begunAt: number): Promise<void> {
    const { memory, reports, queue, writes, dryRun, clock, log, emit } = this.#deps;
    const { source, shape, steps } = plan;
    const ofRevisions = plan.rollout?.steps ?? [];
    const now = clock.now();
    for (const step of steps) this.#leave(key, step, now);
    const toBeWritten = [...steps.filter(isToBeWritten), ...ofRevisions];
    const isThere = (companion: ObjectKey) => this.#deps.view.configMap(companion)?.deleting === false;
    const onUnplanned = (companion: ObjectKey) => reports.resolved(key, companion);
    memory.keepOnly(key, [...steps, ...ofRevisions], isThere, onUnplanned);
    this.#planAgain(key, plan);
    const lane = queue.laneOf(key);
    // How far a canary is depends on its writes, and their own watch events queue no pass. Not as
    // fresh: for a fresh key, the writer drops what the pass under way has not begun.
    const onEnd = plan.rollout?.state === 'rolling out' ? () => queue.add(key, 'bulk') : undefined;
    const isHeldBack = plan.rollout?.isHeldBack === true;
    const reportOn = (writes: number) =>
      new PassReport({ key, source, steps, writes, isHeldBack, begunAt, clock, log, emit, onEnd });
    if (dryRun) {
      for (const step of toBeWritten) reports.wouldWrite(key, step);
      reportOn(0).emitReconciled();
      return;
    }
    const waits = this.#waitsOf(key, toBeWritten, plan);
    // Revisions are written first; then the source is planned again (SPEC D4, D6).
    const isSaid = ofRevisions.every(({ action }) => action === 'drop');
    const isFirst = (step: WriteStep) => isSaid || isOfRevision(step) || !isOfDesired(step);
    const ready = toBeWritten.filter((step) => !waits.has(step) && isFirst(step));
    const nextMs = Math.min(...waits.values());
    if (Number.isFinite(nextMs)) queue.addAfter(key, nextMs + slackMs(waits.size), 'bulk');
    const report = reportOn(ready.length);
    const isBlocked = ({ companion }: WriteStep) => memory.isInConflict(key, companion);
    for (const step of waits.keys()) if (!isOfRevision(step) && isBlocked(step)) report.inConflict(step);
    if (ready.length === 0) report.emitReconciled();
    const yieldsAt = now + Math.min(MOST_UNYIELDING_MS, WRITING_PER_PLANNING * (now - begunAt));
    await writes.add({ key, source, shape, lane, report, yieldsAt }, ready);
  }

  #leave(key: ObjectKey, step: Step, now: number): void {
    const { memory, reports } = this.#deps;
    if (step.action === 'none') reports.leftAlone(key, step);
    if (step.state === 'delayed') memory.delayed(key, step.companion, now);
  }

  /** Queues the source for the time when the first step or rollout has waited long enough. */
  #planAgain(key: ObjectKey, { steps, rollout }: Plan): void {
    const { view, queue } = this.#deps;
    let nextAt = rollout?.until;
    for (const step of steps) if ('until' in step) nextAt = Math.min(step.until, nextAt ?? step.until);
    if (nextAt !== undefined) queue.addAfter(key, Math.max(1, nextAt - view.now()));
  }

  /** The writes that may not begin yet, each with the time (ms) to wait. */
  #waitsOf(key: ObjectKey, steps: readonly WriteStep[], plan: Plan) {
    const waits = new Map<WriteStep, number>();
    if (!this.#deps.memory.hasAny(key)) return waits;
    for (const step of steps) {
      const ms = this.#deps.memory.waitMs(key, step.companion, intentOf(step, plan));
      if (ms > 0) waits.set(step, ms);
    }
    return waits;
  }

  /** There is no plan. */
  #failed(source: ObjectKey, error: unknown, begunAt: number): void {
    const { view, memory, queue, reports, clock, log, emit } = this.#deps;
    const failure = judge(error);
    const { quiet } = failure;
    const delayMs = memory.failed(source, source, '', failure);
    const fields = { source, error: describeError(error), retryInMs: Math.round(delayMs) };
    if (isOutage(error)) reports.serverFails(error);
    log[quiet || isOutage(error) ? 'debug' : 'warn'](fields, 'reconcile failed; retrying');
    if (Number.isFinite(delayMs)) queue.addAfter(source, delayMs);
    emit({
      type: 'reconciled',
      source,
      object: view.configMap(source),
      result: quiet ? 'stale' : 'failed',
      durationMs: clock.now() - begunAt,
      companions: {},
      inSync: false,
    });
  }
}

const isToBeWritten = (step: Step): step is CompanionWriteStep => step.action !== 'none';

/** Delay (ms) of the next pass so that it finds several companions due: 1 each, at most 1 s. */
function slackMs(waiting: number): number {
  return Math.min(1000, waiting - 1);
}
