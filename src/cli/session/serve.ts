import type { Clock } from '../../clock/clock.ts';
import { type Check, healthPage } from '../../serving/health.ts';
import { Heartbeat } from '../../serving/heartbeat.ts';
import { type Page, type PageSource, type Pages, startHttpServer } from '../../serving/http-server.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { PrometheusMetrics } from '../../telemetry/prometheus.ts';
import { messageOf, RunError } from '../errors.ts';
import type { Address } from '../flags/values.ts';
import { version } from '../version.ts';
import { type CheckedParts, livenessChecks, readinessChecks } from './checks.ts';
import type { Election } from './leader-election.ts';

export interface ServedParts extends Omit<CheckedParts, 'heartbeat'> {
  readonly metrics: PrometheusMetrics;
  readonly election: Election | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Serves metrics and health until it is disposed of: also while the process stops, so that others
 * see that it is no longer ready.
 * @throws RunError if it cannot listen.
 */
export async function serve({ host, port }: Address, parts: ServedParts): Promise<AsyncDisposable> {
  const { metrics, election, clock, log } = parts;
  exportProcess(metrics, election);
  const heartbeat = new Heartbeat(clock);
  const livez = livenessChecks({ ...parts, heartbeat });
  const readyz = readinessChecks(parts);
  const health = (endpoint: string, checks: readonly Check[]) => (query: URLSearchParams) =>
    healthPage(endpoint, checks, query);
  const scrape = async (): Promise<Page> => ({
    status: 200,
    contentType: metrics.contentType,
    body: await metrics.scrape(),
  });
  const pages: Pages = new Map<string, PageSource>([
    ['/metrics', scrape],
    ['/livez', health('livez', livez)],
    ['/readyz', health('readyz', readyz)],
    ['/healthz', health('healthz', [...livez, ...readyz])],
  ]);
  const server = await startHttpServer({ host, port, pages, log }).catch((error) => {
    throw new RunError(`${cannotListen(error, `${host ?? ''}:${port}`)}\n${FIX}`);
  });
  log.info({ port: server.port }, 'serving metrics and health');
  const stop = new AbortController();
  const beating = heartbeat.run(stop.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all([beating, server[Symbol.asyncDispose]()]);
    },
  };
}

/** As in client-go, there is no `leader_election_master_status` without an election. */
function exportProcess(metrics: Metrics, election: ServedParts['election']): void {
  metrics.gauge({
    name: 'mirror_build_info',
    help: 'Always 1; the label says which version runs.',
    label: 'version',
    read: () => new Map([[version, 1]]),
  });
  if (election === undefined) return;
  metrics.gauge({
    name: 'leader_election_master_status',
    help: 'Whether this replica is the leader: 1 or 0; the label is the name of the Lease.',
    label: 'name',
    read: () => new Map([[election.name, election.fence.mayWrite() ? 1 : 0]]),
  });
}

const FIX = 'Choose another --http-address, or serve no metrics and no health with an empty one.';

function cannotListen(error: unknown, address: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `--http-address ${address} is in use by another process`;
  return `--http-address ${address} cannot be used: ${messageOf(error)}`;
}
