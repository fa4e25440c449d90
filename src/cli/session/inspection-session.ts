import { sleep, systemClock } from '../../clock/clock.ts';
import { Inspection, ListFailedError } from '../../inspect/inspection.ts';
import { callForObject } from '../../kube/api/call-for-object.ts';
import { type ConfigMapApi, createConfigMapApi } from '../../kube/api/config-maps.ts';
import type { Namespace } from '../../kube/api/types.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { ApiError, NetworkError } from '../../kube/errors.ts';
import { createTransport } from '../../kube/http/pooled-transport.ts';
import type { Transport } from '../../kube/http/transport.ts';
import { MANAGED_BY } from '../../mirror/vocabulary.ts';
import { RunError } from '../errors.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { RULE_FLAGS } from '../flags/run-flags.ts';
import { type ProcessIo, readerGone } from '../io.ts';
import { USER_AGENT } from '../version.ts';
import { settingsOf, watchesOf } from './controller-session.ts';
import { explain, firstContact } from './first-contact.ts';
import { loggerFor } from './from-flags.ts';

/** Time (ms) after which a terminal shows what the command waits for. */
const PATIENCE_MS = 1000;
const GRANT = 'Give this user the right to get, list and watch ConfigMaps and Namespaces.';

/** For what the caches do not have. */
export interface Access {
  readonly api: ConfigMapApi;
  readonly transport: Transport;
}

/**
 * Reads the cluster, then does `work` while the caches follow it. Writes only what `work` does with
 * the API that it gets.
 * @throws RunError with exit code 2, because 1 is an answer of these commands
 */
export async function inspecting<T>(
  cluster: Cluster,
  flags: FlagValues<typeof RULE_FLAGS>,
  io: ProcessIo,
  work: (inspection: Inspection, signal: AbortSignal, access: Access) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const signal = AbortSignal.any([io.signal, readerGone(io.stdout), stop.signal]);
  const log = loggerFor({ 'log-level': 'warn', 'log-format': 'readable' }, io);
  const common = { clock: systemClock, random: Math.random, log };
  const transport = createTransport(cluster, {
    clock: systemClock,
    userAgent: USER_AGENT,
    signal: stop.signal,
  });
  const settings = settingsOf(flags);
  const watches = watchesOf(transport, settings, systemClock);
  const api = createConfigMapApi(transport, { fieldManager: MANAGED_BY });
  const readNamespace = (name: string) =>
    callForObject<Namespace>(transport, {
      method: 'GET',
      path: `/api/v1/namespaces/${encodeURIComponent(name)}`,
    });
  const inspection = new Inspection(settings, { ...watches, ...common, api, readNamespace });
  let running: Promise<void> | undefined;
  try {
    const waiting = new AbortController();
    const progress = showProgress(io, waiting.signal);
    try {
      const namespaces = flags.namespaces && watches.namespaces;
      await firstContact({ ...watches, ...common, cluster, namespaces, retry: false, signal });
      running = inspection.run(signal);
      await inspection.whenSynced(signal);
    } finally {
      waiting.abort();
      await progress;
    }
    if (signal.aborted) throw new RunError('stopped before the cluster was read');
    return await work(inspection, signal, { api, transport });
  } catch (error) {
    throw inWords(error, cluster);
  } finally {
    stop.abort();
    await running;
    await transport.close();
  }
}

/** A line on a terminal after a while; it is gone at the end. */
async function showProgress({ stderr }: ProcessIo, signal: AbortSignal): Promise<void> {
  await sleep(systemClock, PATIENCE_MS, signal);
  if (signal.aborted || stderr.isTTY !== true) return;
  stderr.write('reading the cluster …');
  signal.addEventListener('abort', () => stderr.write('\r\u001b[K'), { once: true });
}

function inWords(error: unknown, cluster: Cluster): unknown {
  if (error instanceof RunError) return new RunError(error.message, 2);
  if (error instanceof ListFailedError) return new RunError(`${error.message}; the lines above say why`, 2);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return new RunError(explain(error, cluster, GRANT).join('\n'), 2);
  }
  return error;
}
