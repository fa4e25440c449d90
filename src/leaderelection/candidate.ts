import type { Clock } from '../clock/clock.ts';
import type { LeaseApi } from '../kube/api/leases.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Who may hold the Lease. */
export interface Candidate {
  readonly leases: LeaseApi;
  /** Differs from that of every other candidate, also of an earlier one in the same Pod. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Logger;
}
