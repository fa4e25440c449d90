import { type Clock, every } from '../../clock/clock.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { LogFields } from '../../telemetry/logger.ts';
import { type Attempt, afterFailure, waitMs } from './attempts.ts';
import type { Failure } from './failure.ts';
import type { ProblemKind } from './happening.ts';
import { afterDisturbance, afterWrite, type Heals, isHeal, isPeaceful, pauseMs } from './heals.ts';

/** A problem that was reported and is not resolved. */
export interface Problem {
  /** Undefined: listeners need not know. */
  readonly kind: ProblemKind | 'consent' | undefined;
  readonly message: string;
  readonly fields: LogFields & { readonly reason?: string };
  /** In a fight, the other client's field manager, if known. */
  readonly editedBy?: string | undefined;
  /** The problem is reported again when this changes; default: the reason. */
  readonly topic?: string;
}

interface Entry {
  readonly attempt?: Attempt | undefined;
  readonly heals?: Heals | undefined;
  /** One of each kind. */
  readonly problems?: readonly Problem[] | undefined;
  /** When the companion was first found unwanted, on the clock. */
  readonly unwantedSince?: number | undefined;
  /** The companion as it was deleted, while the one that replaces it is not known to be there. */
  readonly replaced?: ObservedConfigMap | undefined;
}

/** What a write is about to do, compared with earlier failed writes. */
export interface Intent {
  /** Identifies what would be written. Failures of a different write do not delay it. */
  readonly fingerprint: string;
  /** Changes whenever the source does, or what is rendered of it; empty when it is gone. */
  readonly sourceVersion: string;
  /** False for a delete, which a fight does not delay. */
  readonly heals: boolean;
}

/** Time (ms) between two searches for heals to forget. */
const SWEEP_MS = 60_000;

/**
 * Remembers, for each companion, its failed attempts, its heals, the problems that were reported,
 * and since when its deletion is delayed. Sources and Namespaces have entries under their own keys.
 * One companion's failure does not delay the others (SPEC R9).
 */
export class CompanionMemory {
  readonly #clock: Clock;
  readonly #random: () => number;
  /** By source, then by companion. */
  readonly #entries = new Map<ObjectKey, Map<ObjectKey, Entry>>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Time (ms) until a write may begin; 0: now; Infinity: not before something changes. */
  waitMs(source: ObjectKey, companion: ObjectKey, { fingerprint, sourceVersion, heals }: Intent): number {
    const entry = this.#get(source, companion);
    if (entry === undefined) return 0;
    const now = this.#clock.now();
    const backoffMs = waitMs(entry.attempt, fingerprint, now);
    return backoffMs > 0 || !heals ? backoffMs : pauseMs(entry.heals, sourceVersion, now);
  }

  /** Records a failed attempt. Returns the time (ms) to wait; Infinity: until something changes. */
  failed(source: ObjectKey, subject: ObjectKey, fingerprint: string, failure: Failure): number {
    const now = this.#clock.now();
    const before = this.#get(source, subject)?.attempt;
    const attempt = afterFailure(before, failure, fingerprint, now, this.#random);
    this.#update(source, subject, { attempt });
    return attempt.notBefore - now;
  }

  /** Failed attempts in a row. */
  failures(source: ObjectKey, subject: ObjectKey): number {
    return this.#get(source, subject)?.attempt?.failures ?? 0;
  }

  succeeded(source: ObjectKey, subject: ObjectKey): void {
    this.#update(source, subject, { attempt: undefined });
  }

  /** Another client changed or deleted the companion. */
  disturbed(source: ObjectKey, companion: ObjectKey): void {
    const heals = afterDisturbance(this.#get(source, companion)?.heals, this.#clock.now());
    this.#update(source, companion, { heals });
  }

  /** Whether a write would undo what another client did to the companion. */
  isHeal(source: ObjectKey, companion: ObjectKey, sourceVersion: string): boolean {
    return isHeal(this.#get(source, companion)?.heals, sourceVersion);
  }

  /** Records a write that succeeded. Returns whether it was one heal too many: a fight. */
  wrote(source: ObjectKey, companion: ObjectKey, sourceVersion: string): boolean {
    const before = this.#get(source, companion)?.heals;
    const heals = afterWrite(before, sourceVersion, this.#clock.now());
    this.#update(source, companion, { attempt: undefined, replaced: undefined, heals });
    return (heals?.excess ?? 0) > (before?.excess ?? 0);
  }

  /** The companion is deleted to be replaced (SPEC R12). Its labels may be nowhere else by then. */
  replaces(source: ObjectKey, actual: ObservedConfigMap): void {
    this.#update(source, actual.key, { replaced: actual });
  }

  /** The companion that was deleted, if it was to be replaced and that has not ended well. */
  replaced(source: ObjectKey, companion: ObjectKey): ObservedConfigMap | undefined {
    return this.#get(source, companion)?.replaced;
  }

  isFoughtOver(source: ObjectKey, companion: ObjectKey): boolean {
    return (this.#get(source, companion)?.heals?.excess ?? 0) > 0;
  }

  problems(source: ObjectKey, subject: ObjectKey): readonly Problem[] {
    return this.#get(source, subject)?.problems ?? [];
  }

  setProblems(source: ObjectKey, subject: ObjectKey, problems: readonly Problem[]): void {
    this.#update(source, subject, { problems: problems.length === 0 ? undefined : problems });
  }

  isInConflict(source: ObjectKey, companion: ObjectKey): boolean {
    return this.problems(source, companion).some(({ kind }) => kind === 'conflict');
  }

  /** Whether the last attempt found a different object with the name, not one being deleted. */
  isBlocked(source: ObjectKey, subject: ObjectKey): boolean {
    const attempt = this.#get(source, subject)?.attempt;
    return attempt?.kind === 'blocked' && !attempt.quiet;
  }

  hasAny(source: ObjectKey): boolean {
    return this.#entries.has(source);
  }

  /** Time (ms) since the companion was first found unwanted; 0: just now. */
  unwantedMs(source: ObjectKey, companion: ObjectKey): number {
    const now = this.#clock.now();
    return now - (this.#get(source, companion)?.unwantedSince ?? now);
  }

  /**
   * The deletion of the companion is delayed, from the first time on. `now`: one reading of the
   * clock for a whole plan, so that what is unwanted together is due together.
   */
  delayed(source: ObjectKey, companion: ObjectKey, now: number): void {
    const { unwantedSince = now } = this.#get(source, companion) ?? {};
    this.#update(source, companion, { unwantedSince });
  }

  /**
   * Forgets what a plan has settled: unplanned companions, after `onUnplanned`; failures without a
   * write to come; since when a companion that is wanted again was not; and what was deleted to be
   * replaced, if something `isThere` that needs no write.
   */
  keepOnly(
    source: ObjectKey,
    steps: readonly (Step | RevisionStep)[],
    isThere: (companion: ObjectKey) => boolean,
    onUnplanned: (companion: ObjectKey) => void,
  ): void {
    const remembered = this.#entries.get(source);
    if (remembered === undefined) return;
    const planned = new Map(steps.map((step) => [step.companion, step]));
    for (const subject of remembered.keys()) {
      if (subject === source) continue;
      const step = planned.get(subject);
      if (step === undefined) {
        onUnplanned(subject);
        this.forget(source, subject);
        continue;
      }
      if (step.action === 'none') this.succeeded(source, subject);
      if (!('state' in step) || !isUnwanted(step)) {
        this.#update(source, subject, { unwantedSince: undefined });
      }
      const isSettled = step.action === 'none' && step.state !== 'conflict';
      if (isSettled && isThere(subject)) this.#update(source, subject, { replaced: undefined });
    }
  }

  forget(source: ObjectKey, subject: ObjectKey): void {
    this.#set(source, subject, {});
  }

  /** Sources about which something is remembered. A Namespace can have problems, too. */
  sources(): readonly ObjectKey[] {
    return [...this.#entries.keys()].filter((key) => splitKey(key).namespace !== '');
  }

  /** Forgets everything except reported problems, which may have to be resolved. */
  forgetWrites(): void {
    for (const [source, ofSource] of this.#entries) {
      for (const [subject, { problems }] of ofSource) this.#set(source, subject, { problems });
    }
  }

  /**
   * Sources with failed attempts, each with its smallest number of failures in a row: Infinity if
   * the server rejects the write. A name that another object has is no failure but a conflict.
   */
  unfinished(): ReadonlyMap<ObjectKey, number> {
    const result = new Map<ObjectKey, number>();
    for (const [source, ofSource] of this.#entries) {
      for (const { attempt } of ofSource.values()) {
        if (attempt === undefined || attempt.kind === 'blocked') continue;
        const failures = attempt.kind === 'transient' ? attempt.failures : Number.POSITIVE_INFINITY;
        result.set(source, Math.min(failures, result.get(source) ?? failures));
      }
    }
    return result;
  }

  /** Until `signal` aborts, forgets old heals, and calls `onPeace` when a fight is over. */
  async run(signal: AbortSignal, onPeace: (source: ObjectKey, companion: ObjectKey) => void): Promise<void> {
    await every(this.#clock, SWEEP_MS, signal, () => {
      const now = this.#clock.now();
      for (const [source, ofSource] of this.#entries) {
        for (const [companion, { heals }] of ofSource) {
          if (heals === undefined || !isPeaceful(heals, now)) continue;
          this.#update(source, companion, { heals: undefined });
          if (heals.excess > 0) onPeace(source, companion);
        }
      }
    });
  }

  #get(source: ObjectKey, subject: ObjectKey): Entry | undefined {
    return this.#entries.get(source)?.get(subject);
  }

  #update(source: ObjectKey, subject: ObjectKey, change: Entry): void {
    this.#set(source, subject, { ...this.#get(source, subject), ...change });
  }

  /** An entry in which nothing is left is removed. */
  #set(source: ObjectKey, subject: ObjectKey, entry: Entry): void {
    const ofSource = this.#entries.get(source);
    const { attempt, heals, problems, unwantedSince, replaced } = entry;
    if ((attempt ?? heals ?? problems ?? unwantedSince ?? replaced) !== undefined) {
      if (ofSource === undefined) this.#entries.set(source, new Map([[subject, entry]]));
      else ofSource.set(subject, entry);
    } else if (ofSource?.delete(subject) && ofSource.size === 0) {
      this.#entries.delete(source);
    }
  }
}

function isUnwanted({ state }: Step): boolean {
  return state === 'delayed' || state === 'unwanted' || state === 'held';
}
