import { microTime } from '../kube/api/micro-time.ts';
import type { Lease, LeaseSpec } from '../kube/api/types.ts';

/**
 * The Lease as it was last read or written, and since when its record has been the same. Expiry is
 * judged by that, never by the times in the record: they come from another machine's clock.
 */
export interface ObservedLease {
  readonly lease: Lease;
  /** When the present record was first seen, on the monotonic clock. */
  readonly since: number;
}

/** `now`: after the answer came, so that the record was at least that old already. */
export function observe(before: ObservedLease | undefined, lease: Lease, now: number): ObservedLease {
  const isSame = before !== undefined && recordOf(before.lease) === recordOf(lease);
  return { lease, since: isSame ? before.since : now };
}

/** Who holds it; undefined: nobody. A released Lease has an empty holder. */
export function holderOf(lease: Lease): string | undefined {
  return lease.spec?.holderIdentity || undefined;
}

/** When the record expires unless it changes, on the monotonic clock. */
export function expiryOf({ lease, since }: ObservedLease): number {
  return since + 1000 * (lease.spec?.leaseDurationSeconds ?? 0);
}

/** Highest `leaseTransitions`: the API server refuses what is no int32, so nobody could take it. */
const MOST_TRANSITIONS = 2 ** 31 - 1;

/**
 * The record with which `identity` acquires or renews the Lease, as client-go writes it; `lease`:
 * as it is now, undefined if there is none.
 */
export function renewedSpec(
  lease: Lease | undefined,
  identity: string,
  leaseDurationMs: number,
  now: Date,
): LeaseSpec {
  const { acquireTime, leaseTransitions } = lease?.spec ?? {};
  const isRenewal = lease?.spec?.holderIdentity === identity;
  const transitions = leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: leaseDurationMs / 1000,
    acquireTime: (isRenewal && acquireTime) || microTime(now),
    renewTime: microTime(now),
    leaseTransitions:
      lease === undefined || isRenewal ? transitions : Math.min(transitions + 1, MOST_TRANSITIONS),
  };
}

/** The record of a Lease that its holder gives up: nobody's, and expired within a second. */
export function releasedSpec(lease: Lease, now: Date): LeaseSpec {
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: microTime(now),
    renewTime: microTime(now),
    leaseTransitions: lease.spec?.leaseTransitions ?? 0,
  };
}

/** The record without its metadata, to which others may write. */
function recordOf({ spec }: Lease): string {
  return JSON.stringify(spec ?? {});
}
