import type { Clock } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Step } from '../mirror/plan/step.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Attempts } from './attempts.ts';
import { describeError, judge } from './failure.ts';
import type { Fights } from './fights.ts';
import { PassLog } from './pass-log.ts';
import type { Reports } from './reports.ts';
import type { Desired, StepRunner, WriteStep } from './step-runner.ts';
import { SupersededError, type WriteTurn } from './write-limiter.ts';

/** The pass of which a write is part. */
export interface Pass {
  readonly source: ObjectKey;
  /** Changes whenever the source does; empty when it is gone. */
  readonly sourceVersion: string;
  readonly desired: Desired | undefined;
  readonly turn: WriteTurn;
}

/** A write that did not succeed, or must not be tried yet. */
export interface Wait {
  /** Until the next attempt, milliseconds; Infinity: only a change can help. */
  readonly ms: number;
  /** Whether that attempt may succeed without anybody else's doing. */
  readonly unfinished: boolean;
}

/** Carries out the writing steps of a plan, each companion by itself: what fails holds back nothing else (SPEC R9). */
export class CompanionWrites {
  readonly #runner: StepRunner;
  readonly #attempts: Attempts;
  readonly #fights: Fights;
  readonly #reports: Reports;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #dryRun: boolean;
  readonly #atOnce: number;

  constructor(deps: {
    readonly runner: StepRunner;
    readonly attempts: Attempts;
    readonly fights: Fights;
    readonly reports: Reports;
    readonly log: Logger;
    readonly clock: Clock;
    /** Say what would be written, and do not write. */
    readonly dryRun: boolean;
    /** Steps of one pass under way at once. */
    readonly atOnce: number;
  }) {
    this.#runner = deps.runner;
    this.#attempts = deps.attempts;
    this.#fights = deps.fights;
    this.#reports = deps.reports;
    this.#log = deps.log;
    this.#clock = deps.clock;
    this.#dryRun = deps.dryRun;
    this.#atOnce = deps.atOnce;
  }

  /** Whether a step must wait after earlier failures or heals of its companion; undefined: it need not. */
  holdOf(step: WriteStep, { source, sourceVersion }: Pass): Wait | undefined {
    const { companion } = step;
    const backoffMs = this.#attempts.waitMs(source, companion, fingerprintOf(step, sourceVersion));
    if (backoffMs > 0) return { ms: backoffMs, unfinished: this.#attempts.isTransient(source, companion) };
    const truceMs = step.action === 'delete' ? 0 : this.#fights.waitMs(companion, sourceVersion);
    return truceMs > 0 ? { ms: truceMs, unfinished: false } : undefined;
  }

  /** Carries out the steps. Never rejects; resolves to what is not done and has to be, in no particular order. */
  async attempt(steps: readonly WriteStep[], pass: Pass): Promise<readonly Wait[]> {
    const waits: Wait[] = [];
    const log = new PassLog(this.#log, this.#clock, pass.source, steps.length);
    const rest = steps.values();
    // No more of them than can be under way: to prepare a thousand in one turn would keep everybody else waiting.
    const inTurn = async () => {
      for (const step of rest) {
        const wait = await this.#attempt(step, pass, log);
        if (wait !== undefined) waits.push(wait);
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.#atOnce, steps.length) }, inTurn));
    log.end();
    return waits;
  }

  async #attempt(step: WriteStep, pass: Pass, log: PassLog): Promise<Wait | undefined> {
    if (this.#dryRun) {
      if (step.action === 'defer') this.#reports.deferred(pass.source, step.companion, step.reason);
      else this.#reports.wouldWrite(pass.source, step);
      return undefined;
    }
    const begunAt = this.#clock.now();
    let done: Step['action'];
    try {
      done = await this.#runner.run(step, pass.desired, pass.turn);
    } catch (error) {
      return error instanceof SupersededError ? undefined : this.#failed(step, pass, error);
    }
    log.wrote(step.companion, done, step.reason, begunAt);
    this.#succeeded(step, done, pass);
    return undefined;
  }

  /** Forgets the failures of the source's companions of which nothing is to be written any more. */
  keepOnly(source: ObjectKey, steps: readonly WriteStep[]): void {
    if (!this.#attempts.hasAny(source)) return;
    const toBeWritten = new Set(steps.map((step) => step.companion));
    this.#attempts.forget(source, (companion) => !toBeWritten.has(companion));
  }

  #succeeded(step: WriteStep, done: Step['action'], pass: Pass): void {
    const { companion } = step;
    const { source, sourceVersion } = pass;
    this.#attempts.succeeded(source, companion);
    this.#reports.written(source, companion);
    if (done === 'delete') this.#fights.deleted(companion);
    if (done === 'delete' || done === 'none') return;
    const fought = this.#fights.wrote(companion, sourceVersion);
    const editedBy = 'actual' in step ? step.actual.editedBy : undefined;
    if (fought) this.#reports.fight(source, companion, editedBy);
    else this.#reports.peace(companion);
  }

  #failed(step: WriteStep, { source, sourceVersion }: Pass, error: unknown): Wait {
    const { companion, action } = step;
    const { failure, quiet } = judge(error);
    const fingerprint = fingerprintOf(step, sourceVersion);
    const waitMs = this.#attempts.failed(source, companion, fingerprint, failure);
    this.#log.debug(
      {
        source,
        companion,
        action,
        failures: this.#attempts.failures(source, companion),
        retryInMs: Number.isFinite(waitMs) ? Math.round(waitMs) : undefined,
        err: describeError(error),
      },
      'write failed',
    );
    if (!quiet) this.#reports.failed(source, companion, error);
    return { ms: waitMs, unfinished: failure.kind === 'transient' };
  }
}

/** What a step would write: when that changes, earlier failures say nothing. */
function fingerprintOf(step: WriteStep, sourceVersion: string): string {
  return `${sourceVersion} ${step.action} ${'actual' in step ? step.actual.resourceVersion : ''}`;
}
