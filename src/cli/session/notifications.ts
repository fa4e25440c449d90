import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../../clock/clock.ts';
import type { Sources } from '../../controller/sources.ts';
import type { ConfigMapApi, WriteFence } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { readNamespace } from '../../kube/api/read-namespace.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { podNamespace } from '../../kube/config/pod-cluster.ts';
import type { Transport } from '../../kube/http/transport.ts';
import type { Vocabulary } from '../../mirror/vocabulary.ts';
import { parseNotifyConfig, type Sink } from '../../notify/delivery/config.ts';
import { deliver } from '../../notify/delivery/delivery.ts';
import { HttpClient } from '../../notify/delivery/http-client.ts';
import { oneAtATime, systemResolver } from '../../notify/delivery/resolve-host.ts';
import { readSinkFiles, SinkFileError } from '../../notify/delivery/sink-files.ts';
import { Notifier } from '../../notify/notifier.ts';
import { prefixFor } from '../../notify/state/stored-record.ts';
import type { Occurrence } from '../../recorder/occurrence.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { readFailure, UsageError } from '../errors.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { NOTIFY_FLAGS, RUN_FLAGS } from '../flags/run-flags.ts';
import type { Follower } from './follower.ts';

/** What `--notify-config` asks for. */
export interface NotifyOptions {
  readonly sinks: readonly Sink[];
  /** How the keys of the ConfigMaps with the state begin: by the name of the Lease. */
  readonly prefix: ObjectKey;
  /** What notifications call the cluster; undefined: the uid of Namespace kube-system. */
  readonly clusterName: string | undefined;
}

/** Undefined: there are no notifications. Rejects with `UsageError`. */
export async function notifyOptions(
  flags: FlagValues<typeof RUN_FLAGS>,
  cluster: Cluster,
): Promise<NotifyOptions | undefined> {
  if (flags['notify-config'] === undefined || flags.once || flags['dry-run']) return undefined;
  const namespace = flags['leader-elect-lease-namespace'] ?? podNamespace() ?? cluster.namespace;
  if (namespace === undefined) {
    throw new UsageError(
      '--notify-config: no namespace for its state: this is not a Pod, and the context names none; set --leader-elect-lease-namespace',
    );
  }
  const prefix = prefixFor(namespace, flags['leader-elect-lease-name']);
  return { sinks: await readSinks(flags), prefix, clusterName: flags['cluster-name'] };
}

/** The sinks in the file, and whether their files can be used. Rejects with `UsageError`. */
export async function readSinks(flags: FlagValues<typeof NOTIFY_FLAGS>): Promise<readonly Sink[]> {
  const path = flags['notify-config'];
  if (path === undefined) throw new UsageError('--notify-config: name the file that lists the sinks');
  const sinks = parseNotifyConfig(readText(path), dirname(resolve(path)));
  const inFile = (problem: string) => `--notify-config ${path}: ${problem}`;
  if (!sinks.ok) throw new UsageError(sinks.problem.split('\n').map(inFile).join('\n'));
  const problems = await Promise.all(sinks.value.map(fileProblem));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new UsageError(found.map(inFile).join('\n'));
  return sinks.value;
}

async function fileProblem(sink: Sink): Promise<string | undefined> {
  try {
    await readSinkFiles(sink);
    return undefined;
  } catch (error) {
    if (!(error instanceof SinkFileError)) throw error;
    return `sink ${sink.name}: ${error.message}`;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--notify-config ${path}: ${readFailure(error)}`);
  }
}

/** Dispose of it when the notifier has stopped. */
export interface Notifications extends AsyncDisposable {
  readonly notifier: Notifier;
}

export interface NotificationsDeps {
  readonly api: ConfigMapApi;
  readonly transport: Transport;
  readonly vocabulary: Vocabulary;
  /** Whether companions are being written, which come first. */
  readonly isBusy: () => boolean;
  readonly record: (occurrence: Occurrence) => void;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Each sink has connections of its own, so that one that hangs delays no other. They share the
 * lookups of host names, of which one runs at a time.
 */
export function openNotifications(
  { sinks, prefix, clusterName }: NotifyOptions,
  { transport, record, ...deps }: NotificationsDeps,
): Notifications {
  const { clock } = deps;
  const shared = { connections: 4, clock, resolveHost: oneAtATime(systemResolver) };
  const clients = new Map(
    sinks.map(({ name, timeoutMs }) => [name, new HttpClient({ timeoutMs, ...shared })]),
  );
  const notifier = new Notifier({
    ...deps,
    sinks,
    prefix,
    cluster: async () => clusterName ?? (await uidOfKubeSystem(transport)),
    deliver: async (sink, message, signal) => {
      const client = clients.get(sink.name);
      if (client === undefined) throw new Error(`there is no sink ${sink.name}`);
      return deliver(sink, message, { client, clock, signal });
    },
    report: (uid, ref, reason, note) => {
      const regarding = { apiVersion: 'v1', kind: 'ConfigMap', ...splitKey(ref), uid };
      record({ regarding, type: 'Warning', reason, action: 'Notify', note });
    },
    random: Math.random,
  });
  const dispose = async () => {
    await Promise.all(Array.from(clients.values(), (client) => client.close()));
  };
  return { notifier, [Symbol.asyncDispose]: dispose };
}

async function uidOfKubeSystem(transport: Transport): Promise<string> {
  const { metadata } = await readNamespace(transport, 'kube-system');
  return metadata.uid;
}

/** The follower, with the notifier beside it for as long as this process may write. */
export function notifying(
  follower: Follower,
  notifier: Pick<Notifier, 'lead'>,
  sources: Sources,
  fence: WriteFence | undefined,
): Follower {
  let stopping: AbortSignal = AbortSignal.abort();
  let leading: Promise<void> = Promise.resolve();
  const lead = (signal: AbortSignal) => {
    leading = notifier.lead(sources, signal);
  };
  return {
    run: async (signal) => {
      stopping = signal;
      if (fence === undefined) lead(signal);
      await follower.run(signal);
      await leading;
    },
    takeOver: async () => {
      if (fence !== undefined) lead(AbortSignal.any([stopping, fence.term]));
      await follower.takeOver();
    },
  };
}
