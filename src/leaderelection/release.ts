import { withinLimit } from '../clock/within-limit.ts';
import { isConflict, isNotFound } from '../kube/errors.ts';
import type { Candidate } from './candidate.ts';
import { holderOf, releasedSpec } from './observed-lease.ts';

/**
 * Gives the Lease up if `identity` holds it, so that others need not wait until it expires. Takes
 * at most `limitMs`; never rejects.
 */
export async function release(candidate: Candidate, limitMs: number): Promise<void> {
  const { leases, clock, log } = candidate;
  try {
    await withinLimit(clock, limitMs, undefined, async (signal) => {
      while (!(await tryRelease(candidate, signal)));
    });
  } catch (err) {
    if (isNotFound(err)) return;
    log.warn({ lease: leases.key, err }, 'the Lease was not released; others wait until it expires');
  }
}

/** Resolves to false if a late renewal, or somebody else, wrote to the Lease in between. */
async function tryRelease(
  { leases, identity, clock, log }: Candidate,
  signal: AbortSignal,
): Promise<boolean> {
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
