import { aborted, sleep, systemClock } from '../../clock/clock.ts';
import type { Controller } from '../../controller/controller.ts';
import { canaryIn } from '../../controller/freshness-canary.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { podNamespace } from '../../kube/config/pod-cluster.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { PrometheusMetrics } from '../../telemetry/prometheus.ts';
import { RunError, UsageError } from '../errors.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { RUN_FLAGS } from '../flags/run-flags.ts';
import type { ProcessIo } from '../io.ts';
import { openController, type SessionOptions } from '../session/controller-session.ts';
import { firstContact } from '../session/first-contact.ts';
import { clusterFor, loggerFor } from '../session/from-flags.ts';
import { openElection, runElected } from '../session/leader-election.ts';
import { notifyOptions } from '../session/notifications.ts';
import { countAnswers } from '../session/request-metrics.ts';
import { serve } from '../session/serve.ts';

const GRANT_ALL =
  'Apply manifests/base/rbac.yaml, or watch only namespaces that this user may read, with --namespaces.';
const GRANT_EACH = 'Grant the verbs of manifests/base/rbac.yaml in each of the --namespaces.';

/** `mirror-controller run`: mirrors until stopped, or with `--once` until all is done. */
export async function run(flags: FlagValues<typeof RUN_FLAGS>, io: ProcessIo): Promise<void> {
  const cluster = clusterFor(flags, io);
  const log = loggerFor(flags, io);
  const { signal } = io;
  const address = flags.once ? undefined : flags['http-address'];
  const metrics = address && new PrometheusMetrics();
  const onAnswer = metrics && countAnswers(metrics);
  await using election = openElection(cluster, flags, log, systemClock, onAnswer);
  const fence = election?.fence;
  const canaryNamespace = canaryNamespaceOf(flags, cluster);
  const canary = canaryOf(flags, canaryNamespace);
  const notify = await notifyOptions(flags, cluster);
  await using session = openController(cluster, flags, log, systemClock, {
    metrics,
    onAnswer,
    fence,
    canary,
    mutedSource: canaryNamespace === undefined ? undefined : canaryIn(canaryNamespace),
    notify,
  });
  const { controller, follower, configMaps } = session;
  await using _server =
    address &&
    metrics &&
    (await serve(address, { ...session, metrics, election, stopping: signal, clock: systemClock, log }));
  const namespaces = flags.namespaces && session.namespaces;
  const deps = { clock: systemClock, random: Math.random, log, signal };
  const ifForbidden = flags.namespaces ? GRANT_EACH : GRANT_ALL;
  const retry = !flags.once;
  const contact = firstContact({ cluster, configMaps, namespaces, ifForbidden, retry, ...deps });
  // A server that takes its time to answer does not keep a process that is asked to stop.
  await Promise.race([contact, aborted(signal)]);
  const { server, context } = cluster;
  if (!signal.aborted) log.info({ server, context, dryRun: flags['dry-run'] }, 'starting');
  // Its last request ends with the session.
  void session.canary?.run(signal);
  if (flags.once) await converge(controller, log, signal);
  else if (election) await runElected(follower, election, signal);
  else await follower.run(signal);
  const done = flags['dry-run'] ? 'dry run done; nothing was written' : 'all done';
  log.info({}, flags.once ? done : 'stopped');
}

/**
 * Beside the Pod, unlike the Lease and the state of notifications, which are where the flag says
 * (SPEC O6).
 */
function canaryNamespaceOf(flags: FlagValues<typeof RUN_FLAGS>, cluster: Cluster): string | undefined {
  return podNamespace() ?? flags['leader-elect-lease-namespace'] ?? cluster.namespace;
}

/** @throws UsageError */
function canaryOf(
  flags: FlagValues<typeof RUN_FLAGS>,
  namespace: string | undefined,
): SessionOptions['canary'] {
  const intervalMs = flags['freshness-canary'];
  if (flags.once || flags['dry-run'] || intervalMs === 0) return undefined;
  if (namespace === undefined) {
    throw new UsageError(
      '--freshness-canary: no namespace for it: this is not a Pod, and the context names none; set --leader-elect-lease-namespace',
    );
  }
  if (flags.namespaces && !flags.namespaces.has(namespace)) {
    throw new UsageError(`--freshness-canary: its namespace ${namespace} is not among --namespaces; add it`);
  }
  return { namespace, intervalMs };
}

/** How often (ms) `--once` checks whether all is done. */
const SETTLE_POLL_MS = 20;

/** @throws RunError when something could not be done, or `signal` aborts before all is. */
async function converge(controller: Controller, log: Logger, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const [failing] = await Promise.all([
    unfinishedOnceSettled(controller, log, signal).finally(() => stop.abort()),
    controller.run(AbortSignal.any([signal, stop.signal])),
  ]);
  if (signal.aborted) throw new RunError('stopped before all was done');
  if (failing.length > 0) {
    throw new RunError(`not everything could be done: ${failing.join(', ')}\nThe log says why.`);
  }
}

async function unfinishedOnceSettled(
  controller: Controller,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly string[]> {
  while (!signal.aborted && !controller.isSettled()) await sleep(systemClock, SETTLE_POLL_MS, signal);
  const { unfinished } = controller;
  const left = await controller.leftAsTheyAre();
  if (Object.keys(left).length > 0) log.info(left, 'companions left as they are');
  return unfinished;
}
