import type { Controller, ControllerHealth } from '../../controller/controller.ts';
import type { FreshnessCanary } from '../../controller/freshness-canary.ts';
import type { Check } from '../../serving/health.ts';
import type { Heartbeat } from '../../serving/heartbeat.ts';
import type { Election } from './leader-election.ts';

/** What the checks look at. */
export interface CheckedParts {
  readonly controller: Pick<Controller, 'health'>;
  readonly heartbeat: Pick<Heartbeat, 'lateMs'>;
  /** Undefined: every replica may write. */
  readonly election: Pick<Election, 'problem'> | undefined;
  /** Undefined: it is off. */
  readonly canary: Pick<FreshnessCanary, 'problem'> | undefined;
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
  const { controller, heartbeat, election, canary } = parts;
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
    { name: 'lease', problem: () => election?.problem() },
    {
      name: 'workers',
      problem: () => {
        const { oldestWriteMs, stalledMs } = controller.health();
        if (oldestWriteMs > STUCK_MS) return `a write has been under way for ${inSeconds(oldestWriteMs)}`;
        return stalledMs > STUCK_MS ? `no work has ended for ${inSeconds(stalledMs)}` : undefined;
      },
    },
    { name: 'freshness-canary', problem: () => canary?.problem() },
  ];
}

/** The checks of `/readyz`. They do not depend on leadership: a standby is ready, too. */
export function readinessChecks({
  controller,
  stopping,
}: Pick<CheckedParts, 'controller' | 'stopping'>): readonly Check[] {
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
