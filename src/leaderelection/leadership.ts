import { setMaxListeners } from 'node:events';
import type { Timer } from '../clock/clock.ts';
import type { WriteFence } from '../kube/api/config-maps.ts';
import type { Candidate } from './candidate.ts';
import { ageMs, type Moment } from './moment.ts';

export interface LeadershipOptions extends Candidate {
  /** Time (ms) without a renewal after which the holder stops writing. */
  readonly renewDeadlineMs: number;
}

/** A time of being leader. */
interface Term {
  readonly end: AbortController;
  /** When the last successful renewal was begun: its answer came later. */
  renewedAt: Moment;
}

/**
 * Whether this process may write. A renewal of the Lease begins a term, or prolongs it until the
 * renew deadline after that renewal (SPEC L2).
 */
export class Leadership implements WriteFence {
  readonly #options: LeadershipOptions;
  readonly #noTerm = AbortSignal.abort();
  /** Undefined while this process is not the leader. */
  #term: Term | undefined;
  #deadline: Timer | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /** Whether a write may be sent now. Once false, it stays so until a new term begins. */
  mayWrite(): boolean {
    this.expire();
    return this.isHeld;
  }

  /** Ends the term if the last renewal is too old on either clock. */
  expire(): void {
    const { clock, renewDeadlineMs } = this.#options;
    if (this.#term === undefined || ageMs(this.#term.renewedAt, clock) < renewDeadlineMs) return;
    this.lose('it was not renewed in time');
  }

  /**
   * Whether a term has begun and has not been ended, even if the last renewal is too old by now.
   */
  get isHeld(): boolean {
    return this.#term !== undefined;
  }

  get term(): AbortSignal {
    return this.#term?.end.signal ?? this.#noTerm;
  }

  /** Time (ms) since this term's last successful renewal began; undefined: there is no term. */
  renewalAgeMs(): number | undefined {
    return this.#term && ageMs(this.#term.renewedAt, this.#options.clock);
  }

  /** The Lease was renewed by a request that was sent at `startedAt`. */
  renewed(startedAt: Moment): void {
    const { leases, identity, renewDeadlineMs, clock, log } = this.#options;
    // The answer is so late that others may have waited long enough.
    if (ageMs(startedAt, clock) >= renewDeadlineMs) return;
    if (this.#term === undefined) {
      this.#term = { end: new AbortController(), renewedAt: startedAt };
      // Every write in flight listens to it, and Node would report more than ten as a leak.
      setMaxListeners(0, this.#term.end.signal);
      log.info({ lease: leases.key, holder: identity }, 'became leader');
    }
    this.#term.renewedAt = startedAt;
    this.#awaitDeadline(renewDeadlineMs - ageMs(startedAt, clock));
  }

  /** The Lease is no longer held. */
  lose(reason: string): void {
    const { leases, log } = this.#options;
    if (this.#term === undefined) return;
    log.warn({ lease: leases.key, reason }, 'lost the Lease; nothing is written until it is held again');
    this.end();
  }

  end(): void {
    this.#deadline?.cancel();
    const ended = this.#term;
    this.#term = undefined;
    ended?.end.abort();
  }

  /** Ends the term after `delayMs` unless it is renewed, so that writes in flight are aborted. */
  #awaitDeadline(delayMs: number): void {
    this.#deadline?.cancel();
    this.#deadline = this.#options.clock.setTimer(delayMs, () => {
      // Timers may fire a moment early.
      if (this.mayWrite()) this.#awaitDeadline(1);
    });
  }
}
