import type { Clock } from '../clock/clock.ts';
import type { Controller } from '../controller/controller.ts';
import { type Check, healthPage } from '../serving/health.ts';
import { Heartbeat } from '../serving/heartbeat.ts';
import { type Page, type PageSource, type Pages, startHttpServer } from '../serving/http-server.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { PrometheusMetrics } from '../telemetry/prometheus.ts';
import { livenessChecks, readinessChecks } from './checks.ts';
import { messageOf, RunError } from './errors.ts';
import type { Address } from './values.ts';

export interface ServedParts {
  readonly metrics: PrometheusMetrics;
  readonly controller: Pick<Controller, 'health'>;
  /** See `CheckedParts`. */
  readonly leaseProblem: () => string | undefined;
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Serves metrics and health until it is disposed of: also while the process stops, so that others
 * see that it is no longer ready.
 * @throws RunError if it cannot listen.
 */
export async function serve({ host, port }: Address, parts: ServedParts): Promise<AsyncDisposable> {
  const { metrics, clock, log } = parts;
  const heartbeat = new Heartbeat(clock);
  const livez = livenessChecks({ ...parts, heartbeat });
  const readyz = readinessChecks({ ...parts, heartbeat });
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

const FIX = 'Choose another --http-address, or serve no metrics and no health with an empty one.';

function cannotListen(error: unknown, address: string): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return `--http-address ${address} is in use by another process`;
  return `--http-address ${address} cannot be used: ${messageOf(error)}`;
}
