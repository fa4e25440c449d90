import { type Clock, every } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { LogFields } from '../../telemetry/logger.ts';
import { type Attempt, afterFailure, waitMs } from './attempts.ts';
import type { Failure } from './failure.ts';
import { afterDisturbance, afterWrite, type Heals, isPeaceful, pauseMs } from './heals.ts';

/** Something that a person was told of a companion or a source, and that still holds. */
export interface Problem {
  readonly level: 'warn' | 'info';
  readonly message: string;
  readonly fields: LogFields;
}

/** What is remembered of one companion: nothing, while all is well and nobody else touches it. */
interface Entry {
  attempt?: Attempt | undefined;
  heals?: Heals | undefined;
  told?: Problem | undefined;
}

/** What a write is about to do, as far as its earlier failures matter. */
export interface Intent {
  /** Stands for what would be written; a different one does not wait for the failures of another. */
  readonly fingerprint: string;
  /** Changes whenever the source does; empty when it is gone. */
  readonly sourceVersion: string;
  /** False for a delete, which no fight holds back. */
  readonly heals: boolean;
}

/** How often (ms) the records of heals are searched for those that are over. */
const SWEEP_MS = 60_000;

/**
 * The one memory of the controller: for each companion its failed attempts, its heals, and what was reported of it. A source
 * has an entry under its own key, for reading it and for what is wrong with its annotations; so has a Namespace. Kept per
 * companion, so that one namespace's failure neither delays the others nor makes them be written again (SPEC R9).
 */
export class CompanionMemory {
  readonly #clock: Clock;
  readonly #random: () => number;
  /** By source, then by companion. An entry without content is removed. */
  readonly #entries = new Map<ObjectKey, Map<ObjectKey, Entry>>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** How long a write must wait after failures or a fight, milliseconds; 0: it may go; Infinity: until something changes. */
  waitMs(source: ObjectKey, companion: ObjectKey, { fingerprint, sourceVersion, heals }: Intent): number {
    const entry = this.#get(source, companion);
    if (entry === undefined) return 0;
    const now = this.#clock.now();
    const backoffMs = waitMs(entry.attempt, fingerprint, now);
    return backoffMs > 0 || !heals ? backoffMs : pauseMs(entry.heals, sourceVersion, now);
  }

  /** Records a failed attempt. Returns how long to wait, as {@link waitMs} would. */
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

  /** Somebody else changed or deleted the companion. */
  disturbed(source: ObjectKey, companion: ObjectKey): void {
    const heals = afterDisturbance(this.#get(source, companion)?.heals, this.#clock.now());
    this.#update(source, companion, { heals });
  }

  /** Records a write that succeeded. Returns true when it was one heal too many: the companion is being fought over. */
  wrote(source: ObjectKey, companion: ObjectKey, sourceVersion: string): boolean {
    const before = this.#get(source, companion)?.heals;
    const heals = afterWrite(before, sourceVersion, this.#clock.now());
    this.#update(source, companion, { attempt: undefined, heals });
    return (heals?.excess ?? 0) > (before?.excess ?? 0);
  }

  isFoughtOver(source: ObjectKey, companion: ObjectKey): boolean {
    return (this.#get(source, companion)?.heals?.excess ?? 0) > 0;
  }

  /** What was reported last; undefined when it is over, or nothing was. */
  told(source: ObjectKey, subject: ObjectKey): Problem | undefined {
    return this.#get(source, subject)?.told;
  }

  tell(source: ObjectKey, subject: ObjectKey, told: Problem | undefined): void {
    this.#update(source, subject, { told });
  }

  hasAny(source: ObjectKey): boolean {
    return this.#entries.has(source);
  }

  /**
   * Forgets the companions that the source's latest plan no longer has, and the failures of those that it leaves alone.
   * This and the sweep in {@link run} are the only places that forget.
   */
  keepOnly(source: ObjectKey, planned: ReadonlySet<ObjectKey>, toBeWritten: ReadonlySet<ObjectKey>): void {
    for (const subject of [...(this.#entries.get(source)?.keys() ?? [])]) {
      if (subject === source || toBeWritten.has(subject)) continue;
      if (planned.has(subject)) this.succeeded(source, subject);
      else this.forget(source, subject);
    }
  }

  forget(source: ObjectKey, subject: ObjectKey): void {
    this.#update(source, subject, { attempt: undefined, heals: undefined, told: undefined });
  }

  /** Sources with something that failed and may yet succeed, with the failures in a row where they are fewest. */
  unfinished(): ReadonlyMap<ObjectKey, number> {
    const result = new Map<ObjectKey, number>();
    for (const [source, ofSource] of this.#entries) {
      for (const { attempt } of ofSource.values()) {
        if (attempt?.kind !== 'transient') continue;
        result.set(source, Math.min(attempt.failures, result.get(source) ?? attempt.failures));
      }
    }
    return result;
  }

  /** Until `signal` aborts, forgets heals that lie long back, and calls `onPeace` for each companion that was fought over. */
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
    const ofSource = this.#entries.get(source);
    const before = ofSource?.get(subject);
    const entry = { ...before, ...change };
    if (entry.attempt ?? entry.heals ?? entry.told) {
      if (ofSource === undefined) this.#entries.set(source, new Map([[subject, entry]]));
      else ofSource.set(subject, entry);
    } else if (before !== undefined && ofSource?.delete(subject) && ofSource.size === 0) {
      this.#entries.delete(source);
    }
  }
}
