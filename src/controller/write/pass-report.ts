import type { Clock } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { isAsAsked, type Step } from '../../mirror/plan/step.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Failure } from '../memory/failure.ts';
import type { CompanionCounts, Heal, Listener, Written } from '../memory/happening.ts';
import { isOfRevision, type WriteStep } from './write-step.ts';

/** Most writes of a pass for which each gets a line at `info`. */
const SMALL_PASS = 8;
const WRITES_PER_LINE = 100;

export interface PassReportOptions {
  readonly key: ObjectKey;
  readonly source: ObservedConfigMap | undefined;
  readonly steps: readonly Step[];
  /** How many of the steps the pass will write. */
  readonly writes: number;
  /** When the pass began, on the clock. */
  readonly begunAt: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly emit: Listener;
  /** See `Reconciled`. */
  readonly isHeldBack: boolean;
  /** Called when the last write of a pass has ended, well or not, if one has changed something. */
  readonly onEnd: (() => void) | undefined;
}

/**
 * Logs what one pass has written: a line for each companion of a small pass, a line for each
 * hundred of a large one. At `debug` a large pass has a line for each, too. Reports each write to
 * the listeners, and the end of the last one.
 */
export class PassReport {
  readonly #options: PassReportOptions;
  /** Writes that have not ended. */
  #left: number;
  #counts: Partial<Record<Step['action'], number>> = {};
  #counted = 0;
  #since: number;
  readonly #companions: { -readonly [State in keyof CompanionCounts]: CompanionCounts[State] } = {};
  /** Steps that leave a companion other than the source asks. */
  #unsynced = 0;
  #isFailed = false;
  #hasChanged = false;

  constructor(options: PassReportOptions) {
    this.#options = options;
    this.#left = options.writes;
    this.#since = options.clock.now();
    for (const step of options.steps) {
      this.#companions[step.state] = (this.#companions[step.state] ?? 0) + 1;
      if (!isFine(step)) this.#unsynced += 1;
    }
  }

  /**
   * A write has succeeded. `done`: the step that was carried out, which may be another one (see
   * `writeCompanion`). `begunAt`: when it began, on the clock.
   */
  wrote(step: Step, done: Pick<Step, 'action' | 'reason'>, begunAt: number, heal: Heal | undefined): void {
    const { key: source, log } = this.#options;
    const { companion } = step;
    const { action } = done;
    this.#hasChanged ||= action !== 'none';
    // A companion that is in sync already has no reason of its own.
    const reason = done.reason || step.reason;
    const fields = { source, companion, reason, durationMs: Math.round(this.#msSince(begunAt)) };
    log[this.#isSmall ? 'info' : 'debug'](fields, WRITTEN[action]);
    this.#counts[action] = (this.#counts[action] ?? 0) + 1;
    this.#counted += 1;
    const state = after(step, action);
    if (state === undefined || isAsAsked({ state })) this.#unsynced -= 1;
    this.#move(step.state, state);
    this.#emitWritten({ companion, reason }, { action, result: 'ok', heal }, begunAt);
  }

  /** The same of a revision, which is no companion. */
  wroteRevision(step: RevisionStep, done: RevisionStep['action'] | 'none', begunAt: number): void {
    const { key: source, log } = this.#options;
    const { companion: revision, reason } = step;
    const fields = { source, revision, reason, durationMs: Math.round(this.#msSince(begunAt)) };
    log.info(fields, REVISION_WRITTEN[done]);
  }

  /** An object without our label has the name. The plan cannot see it, only an attempt to write. */
  inConflict(step: Step): void {
    this.#move(step.state, 'conflict');
  }

  /** A write has failed. */
  failed(step: WriteStep, begunAt: number, { kind, quiet }: Failure): void {
    if (isOfRevision(step)) {
      this.#isFailed ||= !quiet;
      return;
    }
    const { action } = step;
    if (kind === 'blocked' && !quiet) this.inConflict(step);
    else if (!quiet) this.#isFailed = true;
    this.#emitWritten(step, { action, result: quiet ? 'stale' : 'failed', heal: undefined }, begunAt);
  }

  /** A write has ended, well or not. */
  ended(): void {
    this.#left -= 1;
    const isDue = this.#counted === WRITES_PER_LINE || (this.#left === 0 && this.#counted > 0);
    if (!this.#isSmall && isDue) this.#sum();
    if (this.#left > 0) return;
    this.emitReconciled();
    if (this.#hasChanged) this.#options.onEnd?.();
  }

  /** To be called only for a pass without writes; otherwise the end of the last one does it. */
  emitReconciled(): void {
    const { key, source, begunAt, emit, isHeldBack } = this.#options;
    const isInvalid = source?.request?.ok === false;
    emit({
      type: 'reconciled',
      source: key,
      object: source,
      result: isInvalid ? 'invalid' : this.#isFailed ? 'failed' : 'ok',
      durationMs: this.#msSince(begunAt),
      companions: this.#companions,
      inSync: this.#unsynced === 0 && !isInvalid,
      ...(isHeldBack && { isHeldBack }),
    });
  }

  get #isSmall(): boolean {
    return this.#options.writes <= SMALL_PASS;
  }

  /** One companion is in another state now; undefined: it is no longer there. */
  #move(from: Step['state'], to: Step['state'] | undefined): void {
    this.#companions[from] = (this.#companions[from] ?? 0) - 1;
    if (this.#companions[from] === 0) delete this.#companions[from];
    if (to !== undefined) this.#companions[to] = (this.#companions[to] ?? 0) + 1;
  }

  #emitWritten(
    { companion, reason }: Pick<Step, 'companion' | 'reason'>,
    how: Pick<Written, 'action' | 'result' | 'heal'>,
    begunAt: number,
  ): void {
    const { key, source, emit } = this.#options;
    const durationMs = this.#msSince(begunAt);
    emit({ type: 'written', source: key, object: source, companion, reason, durationMs, ...how });
  }

  #sum(): void {
    const {
      create: created,
      update: updated,
      replace: replaced,
      delete: deleted,
      none: inSync,
    } = this.#counts;
    const { key: source, clock, log } = this.#options;
    const fields = { source, created, updated, replaced, deleted, inSync };
    log.info({ ...fields, durationMs: Math.round(this.#msSince(this.#since)) }, 'companions written');
    this.#counts = {};
    this.#counted = 0;
    this.#since = clock.now();
  }

  #msSince(reading: number): number {
    return this.#options.clock.now() - reading;
  }
}

/** Nothing is left to do. */
function isFine(step: Step): boolean {
  return step.action === 'none' && isAsAsked(step);
}

/** The companion's state after a successful write; undefined: it is no longer there. */
function after(step: Step, done: Step['action']): Step['state'] | undefined {
  if (done === 'delete') return undefined;
  if (step.state === 'retained' || step.state === 'held') return step.state;
  return 'until' in step ? 'waiting' : 'in sync';
}

const REVISION_WRITTEN = {
  keep: 'revision kept',
  mark: 'revision marked',
  drop: 'revision deleted',
  none: 'revision already kept',
} as const satisfies Record<RevisionStep['action'] | 'none', string>;

const WRITTEN = {
  create: 'companion created',
  update: 'companion updated',
  replace: 'companion replaced',
  delete: 'companion deleted',
  defer: 'companion left to another source',
  none: 'companion already in sync',
} as const satisfies Record<Step['action'], string>;
