import type { Clock } from '../../clock/clock.ts';
import type { Controller } from '../../controller/controller.ts';
import { createController } from '../../controller/create-controller.ts';
import { eventListener } from '../../controller/event-listener.ts';
import { FreshnessCanary } from '../../controller/freshness-canary.ts';
import type { Watches } from '../../controller/informers.ts';
import type { Listener } from '../../controller/memory/happening.ts';
import { sourcesBut } from '../../controller/sources.ts';
import { createConfigMapApi, type WriteFence } from '../../kube/api/config-maps.ts';
import { createListWatch } from '../../kube/api/http-list-watch.ts';
import { createNamespacePoll } from '../../kube/api/namespace-poll.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../kube/api/types.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { createTransport } from '../../kube/http/pooled-transport.ts';
import type { Transport, TransportOptions } from '../../kube/http/transport.ts';
import type { Bounds, MirrorSettings } from '../../mirror/plan/view.ts';
import { MANAGED_BY, vocabularyOf, watchSelector } from '../../mirror/vocabulary.ts';
import type { Occurrence } from '../../recorder/occurrence.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type Metrics, NO_METRICS } from '../../telemetry/metrics.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { CONTROLLER_FLAGS, RULE_FLAGS } from '../flags/run-flags.ts';
import { USER_AGENT } from '../version.ts';
import { openEventRecording, recording } from './event-recording.ts';
import type { Follower } from './follower.ts';
import { type NotifyOptions, notifying, openNotifications } from './notifications.ts';

/**
 * Dispose of it when the controller has stopped: that writes its last Events, if that has not been
 * done, and ends its requests and connections.
 */
export interface ControllerSession extends Watches, AsyncDisposable {
  readonly controller: Controller;
  /** What to run: the controller, and what follows it. */
  readonly follower: Follower;
  /** To be run beside the controller. */
  readonly canary: FreshnessCanary | undefined;
}

export interface SessionOptions {
  /** Default: nothing is measured. */
  readonly metrics?: Metrics | undefined;
  /** See `TransportOptions`. */
  readonly onAnswer?: TransportOptions['onAnswer'];
  /** When it may write; default always. */
  readonly fence?: WriteFence | undefined;
  /** Where and how often (ms) the freshness canary checks; default never (SPEC O6). */
  readonly canary?: { readonly namespace: string; readonly intervalMs: number } | undefined;
  /** Has no Events, and no sink hears of it: a canary's, which may be there from before. */
  readonly mutedSource?: ObjectKey | undefined;
  /** Sinks to notify; default none (SPEC N1). */
  readonly notify?: NotifyOptions | undefined;
}

/** A controller for `cluster`, on its own transport. It does not run yet. */
export function openController(
  cluster: Cluster,
  flags: FlagValues<typeof CONTROLLER_FLAGS>,
  log: Logger,
  clock: Clock,
  { metrics = NO_METRICS, onAnswer, fence, canary: checking, mutedSource, notify }: SessionOptions = {},
): ControllerSession {
  const requests = new AbortController();
  const transport = createTransport(cluster, {
    clock,
    userAgent: USER_AGENT,
    signal: requests.signal,
    // Unanswered writes keep up to eight times as many; the others are for reads (SPEC R16).
    connections: 9 * flags['max-writes-in-flight'],
    onAnswer,
  });
  const settings = settingsOf(flags);
  const { vocabulary } = settings;
  const mayWrite = () => fence?.mayWrite() ?? true;
  const isBusy = () => controller.isWriting;
  const events = openEventRecording(cluster, { mayWrite, isBusy, onAnswer, clock, log });
  metrics.total({
    name: 'mirror_events_dropped_total',
    help: 'Events that were not written: too many waited, or the API server did not take them.',
    read: () => events.recorder.dropped,
  });
  const record = (occurrence: Occurrence) => {
    // A standby sees malformed Namespaces, too.
    if (mayWrite()) events.recorder.record(occurrence);
  };
  const api = createConfigMapApi(transport, { fieldManager: MANAGED_BY, fence });
  const canary = checking && new FreshnessCanary({ ...checking, api, vocabulary, mayWrite, clock, log });
  canary?.export(metrics);
  const notifications =
    notify && openNotifications(notify, { api, transport, vocabulary, isBusy, record, metrics, clock, log });
  const ofOthers = (listener: Listener): Listener => {
    return (happening) => {
      if (!('source' in happening) || happening.source !== mutedSource) listener(happening);
    };
  };
  const listeners = [
    ofOthers(eventListener(record)),
    ...(notifications ? [ofOthers(notifications.notifier.hear)] : []),
    ...(canary ? [canary.hear] : []),
  ];
  const watches = watchesOf(transport, settings, clock);
  const controller = createController(
    {
      settings,
      workers: flags.workers,
      maxWritesInFlight: flags['max-writes-in-flight'],
      maxWritesPerSecond: flags['max-writes-per-second'],
      resyncMs: flags.resync,
      sourceCacheBytes: flags['source-cache-size'],
      dryRun: flags['dry-run'],
    },
    {
      api,
      ...watches,
      mayWrite,
      clock,
      random: Math.random,
      log,
      listeners: flags['dry-run'] ? [] : listeners,
      handler: canary?.handler,
      onSourceData: notifications?.notifier.hearData,
      metrics,
    },
  );
  const sources = sourcesBut(mutedSource, controller.sources);
  const notified = notifications ? notifying(controller, notifications.notifier, sources, fence) : controller;
  const follower = recording(notified, events);
  const dispose = async () => {
    await notifications?.[Symbol.asyncDispose]();
    await events[Symbol.asyncDispose]();
    requests.abort();
    await transport.close();
  };
  return { ...watches, controller, follower, canary, [Symbol.asyncDispose]: dispose };
}

/** What the flags say about which objects count, where companions may be, and what is held. */
export function settingsOf(flags: FlagValues<typeof RULE_FLAGS>): MirrorSettings {
  const bounds: Bounds = {
    namespaces: flags.namespaces,
    allow: flags['allow-target-namespaces'],
    deny: flags['deny-target-namespaces'],
    requireConsent: flags['require-consent'],
  };
  const count = flags['delete-brake'];
  const brake = count === 0 ? undefined : { count, percent: flags['delete-brake-percent'] };
  return { vocabulary: vocabularyOf(flags.domain), bounds, brake };
}

/**
 * One watch for the whole cluster, or one for each namespace, so that Roles are enough (SPEC P2). A
 * Role cannot allow to watch Namespaces, only to get its own, so each is polled.
 */
export function watchesOf(
  transport: Transport,
  { vocabulary, bounds: { namespaces: names } }: MirrorSettings,
  clock: Clock,
): Watches {
  const labelSelector = watchSelector(vocabulary);
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
