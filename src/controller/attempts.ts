import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import type { Clock } from '../clock/clock.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';

/** How a write for one companion failed, as far as the next attempt is concerned. */
export type Failure =
  /** It may succeed at any time: back off. `retryAfterMs` is what the server asks for. */
  | { readonly kind: 'transient'; readonly retryAfterMs: number | undefined }
  /** Something that we may not touch has the name, and we cannot watch it go: look again (SPEC R6: within 30 s). */
  | { readonly kind: 'blocked' }
  /** The server calls it invalid. An admission policy says so too, and may be changed: try at the cap (SPEC R13). */
  | { readonly kind: 'invalid' }
  /** Nothing but a change can mend it. */
  | { readonly kind: 'hopeless' };

interface Attempt {
  readonly failures: number;
  readonly notBefore: number;
  readonly kind: Failure['kind'];
  /** What was tried. Something else may be tried at once. */
  readonly fingerprint: string;
}

const TRANSIENT: BackoffOptions = { baseMs: 50, capMs: 30_000, jitter: 0.5 };
const CAP: BackoffOptions = { baseMs: 30_000, capMs: 30_000, jitter: 0.1 };
/** Under 30 s even with the time that the attempt itself takes. */
const BLOCKED: BackoffOptions = { baseMs: 25_000, capMs: 25_000, jitter: 0.2 };

/**
 * Which companions have failed, and when each may be tried again. It is kept for each companion, not for each
 * source, so that one namespace's failure neither holds back the others nor makes them be written again (SPEC R9).
 * Holds entries only for what fails.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #random: () => number;
  /** By source and companion, so that what a source no longer asks for can be forgotten. */
  readonly #attempts = new Map<ObjectKey, Map<ObjectKey, Attempt>>();

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Milliseconds until the companion may be tried with what `fingerprint` stands for; 0: now; Infinity: never. */
  waitMs(source: ObjectKey, companion: ObjectKey, fingerprint: string): number {
    const attempt = this.#get(source, companion);
    if (attempt === undefined) return 0;
    if (attempt.fingerprint !== fingerprint) return 0;
    return Math.max(0, attempt.notBefore - this.#clock.now());
  }

  /** Takes note of a failure; returns how long to wait, as {@link waitMs} would. */
  failed(source: ObjectKey, companion: ObjectKey, fingerprint: string, failure: Failure): number {
    const failures = this.failures(source, companion) + 1;
    const delayMs = this.#delayMs(failures, failure);
    const notBefore = this.#clock.now() + delayMs;
    const ofSource = this.#attempts.get(source) ?? new Map<ObjectKey, Attempt>();
    ofSource.set(companion, { failures, notBefore, kind: failure.kind, fingerprint });
    this.#attempts.set(source, ofSource);
    return delayMs;
  }

  succeeded(source: ObjectKey, companion: ObjectKey): void {
    const ofSource = this.#attempts.get(source);
    if (ofSource?.delete(companion) && ofSource.size === 0) this.#attempts.delete(source);
  }

  /** Whether any companion of the source has failed. */
  hasAny(source: ObjectKey): boolean {
    return this.#attempts.has(source);
  }

  /** Whether the last failure may be overcome by trying again. */
  isTransient(source: ObjectKey, companion: ObjectKey): boolean {
    return this.#get(source, companion)?.kind === 'transient';
  }

  /** Failures in a row. */
  failures(source: ObjectKey, companion: ObjectKey): number {
    return this.#get(source, companion)?.failures ?? 0;
  }

  /** Forgets the failures of the source's companions that `which` holds for. */
  forget(source: ObjectKey, which: (companion: ObjectKey) => boolean): void {
    const ofSource = this.#attempts.get(source);
    if (ofSource === undefined) return;
    for (const companion of ofSource.keys()) if (which(companion)) ofSource.delete(companion);
    if (ofSource.size === 0) this.#attempts.delete(source);
  }

  #get(source: ObjectKey, companion: ObjectKey): Attempt | undefined {
    return this.#attempts.get(source)?.get(companion);
  }

  #delayMs(failures: number, failure: Failure): number {
    switch (failure.kind) {
      case 'transient':
        return Math.max(backoffDelay(failures, TRANSIENT, this.#random), failure.retryAfterMs ?? 0);
      case 'blocked':
        return backoffDelay(1, BLOCKED, this.#random);
      case 'invalid':
        return backoffDelay(1, CAP, this.#random);
      case 'hopeless':
        return Number.POSITIVE_INFINITY;
    }
  }
}
