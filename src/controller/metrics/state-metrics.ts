import type { Metrics } from '../../telemetry/metrics.ts';
import type { Survey } from './survey.ts';

/** Gauges of the state of the mirror, found out at each scrape (SPEC O1). */
export function stateMetrics(
  metrics: Metrics,
  survey: Pick<Survey, 'take'>,
  cache: { readonly bytes: number },
): void {
  metrics.gauge({
    name: 'mirror_sources',
    help: 'Sources, by their state.',
    label: 'state',
    read: async () => (await survey.take()).sources,
  });
  metrics.gauge({
    name: 'mirror_companions',
    help: 'Companions, existing or wanted, by their state.',
    label: 'state',
    read: async () => (await survey.take()).companions,
  });
  metrics.gauge({
    name: 'mirror_deletes_held',
    help: 'Companions whose deletion the brake holds until somebody releases it.',
    read: async () => (await survey.take()).companions.get('held') ?? 0,
  });
  metrics.gauge({
    name: 'mirror_canaries',
    help: 'Sources with a canary, by how far their content is.',
    label: 'state',
    read: async () => (await survey.take()).canaries,
  });
  metrics.gauge({
    name: 'mirror_oldest_unsynced_seconds',
    help: 'Time since the scrape that first found the oldest companion that must still be written.',
    read: async () => (await survey.take()).oldestUnsyncedMs / 1000,
  });
  metrics.gauge({
    name: 'mirror_cache_bytes',
    help: 'Size of the cache of source data, bounded by --source-cache-size.',
    read: () => cache.bytes,
  });
}
