import { aborted } from '../clock/clock.ts';
import { Wakeup } from '../clock/wakeup.ts';
import { withinLimit } from '../clock/within-limit.ts';
import type { Lease } from '../kube/api/types.ts';
import { ifFound, isAlreadyExists, isConflict, isNotFound } from '../kube/errors.ts';
import { Leadership, type LeadershipOptions } from './leadership.ts';
import { momentOf } from './moment.ts';
import { expiryOf, holderOf, type ObservedLease, observe, renewedSpec } from './observed-lease.ts';
import { release } from './release.ts';

/** What client-go requires of the times: lease duration > renew deadline > 1.2 × retry period. */
export interface ElectorOptions extends LeadershipOptions {
  /** Time (ms) after which others take a Lease that nobody renews; whole seconds. */
  readonly leaseDurationMs: number;
  /** Time (ms) between the beginnings of two attempts to acquire or renew. */
  readonly retryPeriodMs: number;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

/**
 * Share by which a candidate's wait is shortened at random, so that candidates do not ask together.
 * client-go lengthens it; then a renewal would be observed up to a retry period later, and so would
 * be the end of the holder.
 */
const JITTER = 0.2;
const FAILS = 'the Lease cannot be read or written; retrying';

/**
 * Leader election by client-go's algorithm (SPEC L1-L4): the Lease names the leader. The API
 * server's check of the resourceVersion decides who of several gets it.
 */
export class Elector {
  readonly leadership: Leadership;
  readonly #options: ElectorOptions;
  /** The Lease as last read or written; undefined: it did not exist. */
  #observed: ObservedLease | undefined;
  /** Whether our identity may be in the Lease: a write without an answer may have put it there. */
  #mayHold = false;
  #isFailing = false;
  /** Ends the pause after an attempt. */
  readonly #pause = new Wakeup();

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.leadership = new Leadership(options);
  }

  /**
   * Campaigns, and again after each loss, until `signal` aborts. Calls `onGained` once for each
   * time that it becomes leader. Then ends the term, which aborts the writes in flight, and
   * releases the Lease. Resolves when that is done, at most half a renew deadline later. Never
   * rejects.
   */
  async run(signal: AbortSignal, onGained: () => void): Promise<void> {
    const { clock, renewDeadlineMs } = this.#options;
    void aborted(signal).then(() => this.#pause.wake());
    let before: AbortSignal | undefined;
    while (!signal.aborted) {
      const startedAt = clock.now();
      await this.#attempt(signal);
      const { term } = this.leadership;
      if (term !== before && !term.aborted) onGained();
      before = term;
      if (!signal.aborted) await this.#pause.wait(clock, this.#nextAttempt(startedAt) - clock.now());
    }
    this.leadership.end();
    if (this.#mayHold) await release(this.#options, renewDeadlineMs / 2);
  }

  /**
   * A watch shows this holder. That is only a reason to read the Lease now; a watch may be late.
   */
  hint(holder: string | undefined): void {
    if (holder !== this.#holder) this.#pause.wake();
  }

  get #holder(): string | undefined {
    return this.#observed && holderOf(this.#observed.lease);
  }

  /** When the next attempt should begin, on the monotonic clock. */
  #nextAttempt(startedAt: number): number {
    const { clock, random, retryPeriodMs } = this.#options;
    if (this.leadership.isHeld) return startedAt + retryPeriodMs;
    const regular = startedAt + retryPeriodMs * (1 - JITTER * random());
    const expiry = this.#observed === undefined ? 0 : expiryOf(this.#observed);
    // Expired already: the attempt has failed.
    return expiry > clock.now() ? Math.min(regular, expiry) : regular;
  }

  /** One attempt to acquire or renew, for at most half the renew deadline: time for another. */
  async #attempt(signal: AbortSignal): Promise<void> {
    const { leases, renewDeadlineMs, clock, log } = this.#options;
    // A term that is over is not renewed, but ends.
    this.leadership.expire();
    try {
      await withinLimit(clock, renewDeadlineMs / 2, signal, (limited) => this.#acquireOrRenew(limited));
      if (this.#isFailing) log.info({ lease: leases.key, was: FAILS }, 'resolved');
      this.#isFailing = false;
    } catch (err) {
      if (signal.aborted) return;
      const isNormal = isConflict(err) || isAlreadyExists(err);
      log[this.#isFailing || isNormal ? 'debug' : 'warn'](
        { lease: leases.key, err },
        isNormal ? 'somebody else wrote to the Lease first' : FAILS,
      );
      this.#isFailing ||= !isNormal;
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<void> {
    if (this.leadership.isHeld) {
      try {
        return await this.#write(signal);
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
    await this.#read(signal);
    if (this.#mayTake()) await this.#write(signal);
  }

  /** Whether the Lease does not exist, or is nobody's, ours or expired. */
  #mayTake(): boolean {
    const { identity, clock } = this.#options;
    const holder = this.#holder;
    if (this.#observed === undefined || holder === undefined || holder === identity) return true;
    return clock.now() >= expiryOf(this.#observed);
  }

  async #read(signal: AbortSignal): Promise<void> {
    this.#observe(await ifFound(this.#options.leases.get(signal)));
  }

  /** Puts our identity into the Lease as last observed, or creates it. */
  async #write(signal: AbortSignal): Promise<void> {
    const { leases, identity, leaseDurationMs, clock } = this.#options;
    const lease = this.#observed?.lease;
    const startedAt = momentOf(clock);
    const spec = renewedSpec(lease, identity, leaseDurationMs, clock.wallTime());
    this.#mayHold = true;
    this.#observe(
      await (lease === undefined ? leases.create(spec, signal) : leases.update(lease, spec, signal)),
    );
    this.leadership.renewed(startedAt);
  }

  #observe(lease: Lease | undefined): void {
    const { leases, identity, clock, log } = this.#options;
    const before = this.#holder;
    this.#observed = lease && observe(this.#observed, lease, clock.now());
    const holder = this.#holder;
    if (holder === identity) return;
    this.#mayHold = false;
    this.leadership.lose(
      holder === undefined ? 'somebody else released or deleted it' : `${holder} holds it`,
    );
    if (holder !== undefined && holder !== before) {
      log.info({ lease: leases.key, holder }, 'waiting for leadership');
    }
  }
}
