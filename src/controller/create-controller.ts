import type { Clock } from '../clock/clock.ts';
import type { Handler } from '../informer/handler.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Content } from '../mirror/observe/content.ts';
import { type ObservedConfigMap, sourceReference } from '../mirror/observe/observed-config-map.ts';
import type { MirrorSettings } from '../mirror/plan/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { DelayingQueue } from '../workqueue/delaying-queue.ts';
import { QueueMetrics } from '../workqueue/queue-metrics.ts';
import { Workers } from '../workqueue/workers.ts';
import { Controller } from './controller.ts';
import { configMapHandler } from './events/config-map-handler.ts';
import { namespaceHandler } from './events/namespace-handler.ts';
import { Namespaces } from './events/namespaces.ts';
import { OccupiedNamespaces } from './events/occupied-namespaces.ts';
import { createInformers, type Watches } from './informers.ts';
import { CompanionMemory } from './memory/companion-memory.ts';
import { Deletions } from './memory/deletions.ts';
import { emitToAll, type Listener } from './memory/happening.ts';
import { Reports } from './memory/reports.ts';
import { SourceVersions } from './memory/source-versions.ts';
import { happeningMetrics } from './metrics/happening-metrics.ts';
import { stateMetrics } from './metrics/state-metrics.ts';
import { Survey } from './metrics/survey.ts';
import { countRestarts, exportActivity } from './metrics/watch-metrics.ts';
import { createClusterView } from './reconcile/cluster-view.ts';
import { DryRunPlanner } from './reconcile/dry-run-planner.ts';
import { Planner } from './reconcile/planner.ts';
import { Reconciler } from './reconcile/reconciler.ts';
import { createSources } from './sources.ts';
import { MutationCache } from './write/mutation-cache.ts';
import { Renderings } from './write/renderings.ts';
import { contentOf, SourceBodies } from './write/source-bodies.ts';
import { WriteQueue } from './write/write-queue.ts';
import { WriteRate } from './write/write-rate.ts';
import { Writer } from './write/writer.ts';

export interface ControllerOptions {
  readonly settings: MirrorSettings;
  /** Sources reconciled at once, at least 1. */
  readonly workers: number;
  /** Writes in flight at once, at least 1. Those unanswered for half a second do not count. */
  readonly maxWritesInFlight: number;
  /** Writes begun in any one second; 0: no limit. */
  readonly maxWritesPerSecond: number;
  /** Time (ms) between two passes over all sources; 0: none. */
  readonly resyncMs: number;
  /** Maximum size (bytes) of the cache of source bodies. */
  readonly sourceCacheBytes: number;
  /** Report what would be written, and write nothing. */
  readonly dryRun: boolean;
}

export interface ControllerDeps extends Watches {
  readonly api: ConfigMapApi;
  /**
   * Whether this process may write now. While it may not, it keeps its caches up to date and drops
   * all work. Call `Controller.takeOver` when it may again.
   */
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Called with each `Happening`. The controller never waits for one. */
  readonly listeners: readonly Listener[];
  readonly metrics: Metrics;
  /** Sees what the watch shows, after the controller. */
  readonly handler?: Handler<ObservedConfigMap> | undefined;
  /** Sees the data of each source that the watch shows. `before` undefined: it is not known. */
  readonly onSourceData?:
    | ((source: ObjectKey, before: Content | undefined, after: Content) => void)
    | undefined;
}

/** Longest time (ms) that a stop waits for the writes in flight (SPEC Q3). */
const DRAIN_MS = 10_000;

/** Connects informers → handlers → queue → reconciler → write queue → writer; starts nothing. */
export function createController(options: ControllerOptions, deps: ControllerDeps): Controller {
  const { api, mayWrite, clock, random, log, metrics } = deps;
  const { settings, workers, maxWritesInFlight, maxWritesPerSecond, dryRun } = options;
  const { vocabulary } = settings;

  // What the controller sees.
  const bodies = new SourceBodies(api, options.sourceCacheBytes);
  const informers = createInformers(deps, settings, {
    onData: ({ key, request }, object) => {
      const before = bodies.put(key, object);
      if (request !== undefined) deps.onSourceData?.(key, before, contentOf(object));
    },
    onRestart: countRestarts(metrics),
  });
  const { configMaps, namespaces: namespaceInformer } = informers;
  const namespaces = new Namespaces(namespaceInformer);
  const mutations = new MutationCache(clock, (companion) => sourceReference(companion, vocabulary));
  const { lister } = configMaps;
  const memory = new CompanionMemory(clock, random);
  const deletions = new Deletions(clock);
  const versions = new SourceVersions(clock);
  const view = createClusterView({
    settings,
    configMaps: lister,
    namespaces: namespaceInformer.lister,
    mutations,
    memory,
    deletions,
    versions,
    clock,
  });

  // What it does.
  const emit = emitToAll([...deps.listeners, happeningMetrics(metrics, clock, mayWrite)], log);
  const reports = new Reports({ log, memory, view, emit });
  // An eighth of the workers, at least one of several, is kept for fresh keys.
  const bulkLimit = Math.max(1, workers - Math.ceil(workers / 8));
  const queue = new DelayingQueue<ObjectKey>({
    clock,
    bulkLimit,
    metrics: new QueueMetrics('sources', metrics, clock),
  });
  const rate = new WriteRate(maxWritesPerSecond, clock);
  const areNamespacesSynced = () => namespaceInformer.isSynced();
  const renderings = new Renderings({ view, bodies, clock });
  const shared = { view, api, bodies, memory, reports, queue, mayWrite, clock, log, emit };
  const planner = new Planner({ ...shared, renderings, deletions, versions, areNamespacesSynced });
  const writer = new Writer({ ...shared, deletions, mutations, rate });
  const writes = new WriteQueue({
    slots: maxWritesInFlight,
    rate,
    clock,
    isOutdated: (pass) => writer.isOutdated(pass),
    requeue: (source, lane) => queue.add(source, lane),
  });
  const reconciler = new Reconciler({
    ...shared,
    planner: dryRun ? new DryRunPlanner({ planner, api, view }) : planner,
    writes,
    dryRun,
  });

  configMaps.addHandler(
    configMapHandler({
      view,
      queue,
      mutations,
      memory,
      versions,
      isSynced: () => configMaps.isSynced(),
      demandNamespaces: () => namespaces.demand(),
      emit,
    }),
  );
  const occupied = new OccupiedNamespaces();
  configMaps.addHandler(occupied);
  if (deps.handler !== undefined) configMaps.addHandler(deps.handler);
  namespaceInformer.addHandler(
    namespaceHandler({
      view,
      configMaps: lister,
      occupied,
      queue,
      reports,
      isSynced: areNamespacesSynced,
      emit,
    }),
  );

  const survey = new Survey({ view, renderings, configMaps: lister, memory, areNamespacesSynced, clock });
  stateMetrics(metrics, survey, bodies);
  exportActivity(metrics, { configmaps: configMaps, namespaces: namespaceInformer }, clock);

  const common = { drainMs: DRAIN_MS, clock, log };
  return new Controller({
    configMaps,
    namespaces,
    mutations,
    memory,
    reports,
    sources: createSources(configMaps, bodies, queue),
    view,
    queue,
    writes,
    survey,
    reconcilers: new Workers({
      ...common,
      source: queue,
      process: (key) => reconciler.reconcile(key),
      concurrency: workers,
    }),
    writers: new Workers({
      ...common,
      source: writes,
      process: (write) => writer.write(write),
      concurrency: maxWritesInFlight,
    }),
    resyncMs: options.resyncMs,
    mayWrite,
    clock,
    log,
  });
}
