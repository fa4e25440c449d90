import type { ControllerHealth } from '../../controller/controller.ts';
import type { Check } from '../../serving/health.ts';
import type { Heartbeat } from '../../serving/heartbeat.ts';

/** What the checks look at. */
export interface CheckedParts {
  readonly controller: { health(): ControllerHealth };
  readonly heartbeat: Pick<Heartbeat, 'lateMs'>;
  /** Why a holder of the Lease cannot be trusted; undefined: it can, or there is no election. */
  readonly leaseProblem: () => string | undefined;
  /** Why edits do not reach companions though the API server answers; undefined: they do. */
  readonly canaryProblem: () => string | undefined;
  /** Aborts when the process is asked to stop. */
  readonly stopping: AbortSignal;
}

/** Time (ms) after which an open watch that brings nothing is stuck. It should close after 90 s. */
const SILENT_MS = 5 * 60_000;
/** Lateness (ms) of a timer that shows that the event loop is blocked, or hardly runs. */
const LATE_MS = 10_000;
/**
 * Time (ms) after which work is stuck. Each request ends within 30 s; a write may take several, and
 * may have to wait for a server's `Retry-After` and for `--max-writes-per-second`.
 */
const STUCK_MS = 15 * 60_000;

/**
 * The checks of `/livez` (SPEC O2): what only a restart can fix. An API server that fails or cannot
 * be reached is not among it.
 */
export function livenessChecks(parts: CheckedParts): readonly Check[] {
  const { controller, heartbeat, leaseProblem, canaryProblem } = parts;
  const watch = (kind: keyof ControllerHealth['silentMs']) => () => {
    const ms = controller.health().silentMs[kind];
    return ms > SILENT_MS ? `the watch is open and has brought nothing for ${inSeconds(ms)}` : undefined;
  };
  return [
    { name: 'watch-configmaps', problem: watch('configMaps') },
    { name: 'watch-namespaces', problem: watch('namespaces') },
    {
      name: 'event-loop',
      problem: () => {
        const ms = heartbeat.lateMs();
        return ms > LATE_MS ? `a timer is ${inSeconds(ms)} late` : undefined;
      },
    },
    { name: 'lease', problem: leaseProblem },
    {
      name: 'workers',
      problem: () => {
        const { oldestWriteMs, stalledMs } = controller.health();
        if (oldestWriteMs > STUCK_MS) return `a write has been under way for ${inSeconds(oldestWriteMs)}`;
        return stalledMs > STUCK_MS ? `no work has ended for ${inSeconds(stalledMs)}` : undefined;
      },
    },
    { name: 'freshness-canary', problem: canaryProblem },
  ];
}

/** The checks of `/readyz`. They do not depend on leadership: a standby is ready, too. */
export function readinessChecks({ controller, stopping }: CheckedParts): readonly Check[] {
  return [
    {
      name: 'synced',
      problem: () => {
        const { unsynced } = controller.health();
        return unsynced.length > 0 ? `not complete: ${unsynced.join(', ')}` : undefined;
      },
    },
    { name: 'shutdown', problem: () => (stopping.aborted ? 'the process is stopping' : undefined) },
  ];
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
