import type { Clock } from '../clock/clock.ts';
import { withinLimit } from '../clock/within-limit.ts';
import type { LeaseApi } from '../kube/api/leases.ts';
import { isConflict, isNotFound } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { holderOf, releasedSpec } from './observed-lease.ts';

export interface Holding {
  readonly leases: LeaseApi;
  /** Differs from that of every other candidate, also of an earlier one in the same Pod. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Gives the Lease up if `identity` holds it, so that others need not wait until it expires. Takes
 * at most `limitMs`; never rejects.
 */
export async function release(holding: Holding, limitMs: number): Promise<void> {
  const { leases, clock, log } = holding;
  try {
    await withinLimit(clock, limitMs, undefined, async (signal) => {
      while (!(await tryRelease(holding, signal)));
    });
  } catch (err) {
    if (isNotFound(err)) return;
    log.warn({ lease: leases.key, err }, 'the Lease was not released; others wait until it expires');
  }
}

/** Resolves to false if a late renewal, or somebody else, wrote to the Lease in between. */
async function tryRelease({ leases, identity, clock, log }: Holding, signal: AbortSignal): Promise<boolean> {
  const lease = await leases.get(signal);
  if (holderOf(lease) !== identity) return true;
  try {
    await leases.update(lease, releasedSpec(lease, clock.wallTime()), signal);
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
  log.info({ lease: leases.key }, 'released the Lease');
  return true;
}
