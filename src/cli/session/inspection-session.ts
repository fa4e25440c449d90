import { systemClock } from '../../clock/clock.ts';
import { Inspection, ListFailedError } from '../../inspect/inspection.ts';
import { type ConfigMapApi, createConfigMapApi } from '../../kube/api/config-maps.ts';
import { readNamespace } from '../../kube/api/read-namespace.ts';
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
const GRANT_ALL =
  'This command reads with your rights. Ask an administrator for get, list and watch of ConfigMaps and Namespaces in the whole cluster; or name the namespaces that you may read, with --namespaces.';
const GRANT_EACH =
  'This command reads with your rights. Ask an administrator for get, list and watch of ConfigMaps, and get of the Namespace, in each of the --namespaces.';

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
  const inspection = new Inspection(settings, {
    ...watches,
    ...common,
    api,
    readNamespace: (name) => readNamespace(transport, name),
  });
  const ifForbidden = flags.namespaces ? GRANT_EACH : GRANT_ALL;
  let running: Promise<void> | undefined;
  try {
    {
      using _progress = showProgress(io);
      const namespaces = flags.namespaces && watches.namespaces;
      await firstContact({ ...watches, ...common, cluster, namespaces, ifForbidden, retry: false, signal });
      running = inspection.run(signal);
      await inspection.whenSynced(signal);
    }
    if (signal.aborted) throw new RunError('stopped before the cluster was read');
    return await work(inspection, signal, { api, transport });
  } catch (error) {
    throw inWords(error, cluster, ifForbidden);
  } finally {
    stop.abort();
    await running;
    await transport.close();
  }
}

/** A line on a terminal after a while; it is gone at the end. */
function showProgress({ stderr }: ProcessIo): Disposable {
  let end = '';
  const timer = systemClock.setTimer(PATIENCE_MS, () => {
    if (stderr.isTTY !== true) return;
    stderr.write('reading the cluster …');
    end = '\r\u001b[K';
  });
  const stop = () => {
    timer.cancel();
    stderr.write(end);
  };
  return { [Symbol.dispose]: stop };
}

function inWords(error: unknown, cluster: Cluster, ifForbidden: string): unknown {
  if (error instanceof RunError) return new RunError(error.message, 2);
  if (error instanceof ListFailedError) return new RunError(`${error.message}; the lines above say why`, 2);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return new RunError(explain(error, cluster, ifForbidden).join('\n'), 2);
  }
  return error;
}
