import type { Clock } from '../../clock/clock.ts';
import type { Informer } from '../../informer/informer.ts';
import { RESTART_REASONS, type RestartReason } from '../../informer/restart-reason.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

const KINDS = ['configmaps', 'namespaces'] as const;
type Kind = (typeof KINDS)[number];

/** For each kind, what to call when its list or watch has ended. */
export function countRestarts(metrics: Metrics): (kind: Kind) => (reason: RestartReason) => void {
  const restarts = metrics.counter({
    name: 'mirror_watch_restarts_total',
    help: 'Lists and watches that have ended; ended: by the server, at the time limit of a watch.',
    labels: { kind: KINDS, reason: RESTART_REASONS },
  });
  return (kind) => (reason) => restarts.with(kind, reason).inc();
}

/**
 * The Namespace watch is not opened before it is needed. Until then its activity is that of the
 * scrape, so that an alert on old activity needs no exception.
 */
export function exportActivity(
  metrics: Metrics,
  watches: Readonly<Record<Kind, Pick<Informer<never>, 'heardAt'>>>,
  clock: Clock,
): void {
  metrics.gauge({
    name: 'mirror_watch_last_activity_timestamp_seconds',
    help: 'When the watch last brought something, a bookmark included; of several, the quietest one.',
    label: 'kind',
    read: () => {
      const silentMs = (kind: Kind) => clock.now() - (watches[kind].heardAt() ?? clock.now());
      return new Map(KINDS.map((kind) => [kind, (clock.wallTime().getTime() - silentMs(kind)) / 1000]));
    },
  });
}
