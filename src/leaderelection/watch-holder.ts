import { type Clock, sleep } from '../clock/clock.ts';
import type { ListWatch } from '../kube/api/list-watch.ts';
import type { Lease } from '../kube/api/types.ts';
import type { Logger } from '../telemetry/logger.ts';
import { holderOf } from './observed-lease.ts';

/** After this time (s) the server ends a watch, and it is opened again. */
const TIMEOUT_SECONDS = 300;

export interface HolderWatch {
  /** Of the one Lease. Only `watch` is used, so that the right to list Leases is not needed. */
  readonly leases: Pick<ListWatch<Lease>, 'watch'>;
  /** Called with the holder whenever the Lease changes; undefined: nobody holds it. */
  readonly onChange: (holder: string | undefined) => void;
  /** Pause (ms) before a watch that ended or failed is opened again. */
  readonly retryPeriodMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Watches the Lease until `signal` aborts; never rejects. Nothing depends on it but speed: while it
 * fails or hangs, a candidate still reads the Lease every retry period. So its failures are logged
 * at `debug`.
 */
export async function watchHolder(watch: HolderWatch, signal: AbortSignal): Promise<void> {
  const { leases, onChange, retryPeriodMs, clock, log } = watch;
  const options = { sendInitialEvents: false, timeoutSeconds: TIMEOUT_SECONDS };
  while (!signal.aborted) {
    try {
      for await (const events of leases.watch(options, signal)) {
        const last = events.findLast((event) => event.type !== 'BOOKMARK');
        if (last?.type === 'DELETED') onChange(undefined);
        else if (last !== undefined) onChange(holderOf(last.object));
      }
    } catch (err) {
      if (!signal.aborted) log.debug({ err }, 'the watch on the Lease failed; retrying');
    }
    await sleep(clock, retryPeriodMs, signal);
  }
}
