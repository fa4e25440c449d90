import type { Clock } from '../clock/clock.ts';
import type { Controller } from '../controller/controller.ts';
import { type ControllerDeps, createController } from '../controller/create-controller.ts';
import { eventListener } from '../controller/event-listener.ts';
import { createConfigMapApi, type WriteFence } from '../kube/api/config-maps.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { createNamespacePoll } from '../kube/api/namespace-poll.ts';
import type { ConfigMap, Namespace } from '../kube/api/types.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { createTransport, type Transport } from '../kube/http/transport.ts';
import type { Bounds } from '../mirror/plan/placement.ts';
import { MANAGED_BY, vocabularyOf, watchSelector } from '../mirror/vocabulary.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openEventRecording } from './event-recording.ts';
import type { CONTROLLER_FLAGS, FlagValues } from './flags.ts';
import { version } from './version.ts';

/** What the controller watches, by the name that the log gives it. */
export type Watches = Pick<ControllerDeps, 'configMaps' | 'namespaces'>;

/**
 * Dispose of it when the controller has stopped: that writes its last Events, and ends its requests
 * and connections.
 */
export interface ControllerSession extends Watches, AsyncDisposable {
  readonly controller: Controller;
}

/**
 * A controller for `cluster`, on its own transport. It does not run yet. `fence`: when it may write;
 * default always.
 */
export function openController(
  cluster: Cluster,
  flags: FlagValues<typeof CONTROLLER_FLAGS>,
  log: Logger,
  clock: Clock,
  fence?: WriteFence,
): ControllerSession {
  const requests = new AbortController();
  const transport = createTransport(cluster, {
    clock,
    userAgent: `mirror-controller/${version}`,
    signal: requests.signal,
    // Up to eight times as many writes keep theirs without an answer; some are for reads (SPEC R16).
    connections: 9 * flags['max-writes-in-flight'],
  });
  const vocabulary = vocabularyOf(flags.domain);
  const bounds: Bounds = {
    namespaces: flags.namespaces,
    allow: flags['allow-target-namespaces'],
    deny: flags['deny-target-namespaces'],
    requireConsent: flags['require-consent'],
  };
  const mayWrite = () => fence?.mayWrite() ?? true;
  const events = openEventRecording(cluster, { mayWrite, clock, log });
  const tellEvents = eventListener((occurrence) => {
    // A standby sees malformed Namespaces, too.
    if (mayWrite()) events.recorder.record(occurrence);
  });
  const watches = watchesOf(transport, watchSelector(vocabulary), flags.namespaces, clock);
  const controller = createController(
    {
      settings: { vocabulary, bounds },
      workers: flags.workers,
      maxWritesInFlight: flags['max-writes-in-flight'],
      maxWritesPerSecond: flags['max-writes-per-second'],
      resyncMs: flags.resync,
      sourceCacheBytes: flags['source-cache-size'],
      dryRun: flags['dry-run'],
    },
    {
      api: createConfigMapApi(transport, { fieldManager: MANAGED_BY, fence }),
      ...watches,
      mayWrite,
      clock,
      random: Math.random,
      log,
      listeners: flags['dry-run'] ? [] : [tellEvents],
    },
  );
  const dispose = async () => {
    await events[Symbol.asyncDispose]();
    requests.abort();
    await transport.close();
  };
  return { ...watches, controller, [Symbol.asyncDispose]: dispose };
}

/**
 * One watch for the whole cluster, or one for each namespace, so that Roles are enough (SPEC P2). A
 * Role cannot allow to watch Namespaces, only to get its own, so each is polled.
 */
function watchesOf(
  transport: Transport,
  labelSelector: string,
  names: ReadonlySet<string> | undefined,
  clock: Clock,
): Watches {
  const configMapsAt = (path: string) => createListWatch<ConfigMap>(transport, { path, labelSelector });
  if (names === undefined) {
    const namespaces = createListWatch<Namespace>(transport, {
      path: '/api/v1/namespaces',
      metadataOnly: true,
    });
    return {
      configMaps: new Map([['all namespaces', configMapsAt('/api/v1/configmaps')]]),
      namespaces: new Map([['all namespaces', namespaces]]),
    };
  }
  return {
    configMaps: new Map(
      Array.from(names, (name) => [name, configMapsAt(`/api/v1/namespaces/${name}/configmaps`)]),
    ),
    namespaces: new Map(Array.from(names, (name) => [name, createNamespacePoll(transport, name, clock)])),
  };
}
