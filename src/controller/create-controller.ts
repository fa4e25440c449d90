import type { Clock } from '../clock/clock.ts';
import { createInformer } from '../informer/informer.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ListWatch } from '../kube/api/list-watch.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../kube/api/types.ts';
import { observe, sourceReference } from '../mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../mirror/observe/observed-namespace.ts';
import { concernedSources, dependsOnNamespaces } from '../mirror/plan/concerns.ts';
import type { MirrorSettings } from '../mirror/plan/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts';
import { Workers } from '../workqueue/workers.ts';
import { Attempts } from './attempts.ts';
import { configMapIndexers, createClusterView } from './cluster-view.ts';
import { CompanionWriter } from './companion-writer.ts';
import { CompanionWrites } from './companion-writes.ts';
import { Controller } from './controller.ts';
import { Fights } from './fights.ts';
import { configMapHandler, namespaceHandler } from './handlers.ts';
import { MutationCache } from './mutation-cache.ts';
import { Namespaces } from './namespaces.ts';
import { PassRunner, UNLIMITED, WRITES_PER_PASS } from './pass-runner.ts';
import { Processor } from './processor.ts';
import { Reconciler } from './reconciler.ts';
import { Reports } from './reports.ts';
import { SourceBodies } from './source-bodies.ts';
import { StepRunner } from './step-runner.ts';
import { WriteLimiter, type WriteLimits } from './write-limiter.ts';

export interface ControllerOptions extends WriteLimits {
  readonly settings: MirrorSettings;
  /** Reconciles at once, at least 1. */
  readonly workers: number;
  /** Every source is reconciled from the cache this often, milliseconds; 0: never. */
  readonly resyncMs: number;
  /** Bound of the cache of source bodies, bytes. */
  readonly sourceCacheBytes: number;
  /** Say what would be written, and write nothing. */
  readonly dryRun: boolean;
}

export interface ControllerDeps {
  readonly api: ConfigMapApi;
  /** Sources and companions: one for the cluster, or one for each namespace that is watched, each with a name for the log. */
  readonly configMaps: ReadonlyMap<string, ListWatch<ConfigMap>>;
  /** Likewise; opened only when a source targets namespaces. */
  readonly namespaces: ReadonlyMap<string, ListWatch<Namespace>>;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
}

/** How long a stop waits for the writes that are under way, milliseconds (SPEC Q3). */
const DRAIN_MS = 10_000;

/** Puts the parts together: informers → handlers → queue → workers → reconciler → writer. Starts nothing. */
export function createController(options: ControllerOptions, deps: ControllerDeps): Controller {
  const { api, clock, random, log } = deps;
  const { settings } = options;
  const { vocabulary } = settings;

  const bodies = new SourceBodies(api, options.sourceCacheBytes);
  const configMaps = createInformer({
    name: 'configmaps',
    listWatches: deps.configMaps,
    transform: (object: ConfigMap) => {
      const observed = observe(object, vocabulary);
      if (observed.request !== undefined) bodies.put(observed.key, object);
      return observed;
    },
    indexers: configMapIndexers(vocabulary),
    clock,
    random,
    log,
  });
  const namespaceInformer = createInformer({
    name: 'namespaces',
    listWatches: deps.namespaces,
    transform: (object: Namespace) => observeNamespace(object, vocabulary),
    indexers: {},
    clock,
    random,
    log,
  });
  const namespaces = new Namespaces(namespaceInformer);
  const mutations = new MutationCache(clock, (companion) => sourceReference(companion, vocabulary));
  const view = createClusterView({
    settings,
    configMaps: configMaps.lister,
    namespaces: namespaces.lister,
    mutations,
  });

  // Of the workers an eighth, at least one, is kept for fresh keys where there are several: their passes are short.
  const bulkLimit = Math.max(1, options.workers - Math.ceil(options.workers / 8));
  const queue = new RateLimitingQueue<ObjectKey>({ clock, random, bulkLimit });
  const fights = new Fights(clock);
  configMaps.addHandler(
    configMapHandler({
      view,
      queue,
      mutations,
      fights,
      hasSynced: () => configMaps.hasSynced(),
      demandNamespaces: () => namespaces.demand(),
    }),
  );
  configMaps.addHandler(mutations.handler());
  namespaceInformer.addHandler(
    namespaceHandler({ view, configMaps: configMaps.lister, queue, areKnown: () => namespaces.areKnown() }),
  );

  const reports = new Reports(log);
  const limiter = new WriteLimiter(options, clock);
  const writer = new CompanionWriter({ api, limiter, mutations, vocabulary });
  const writes = new CompanionWrites({
    runner: new StepRunner({ view, api, writer }),
    attempts: new Attempts(clock, random),
    fights,
    reports,
    log,
    clock,
    dryRun: options.dryRun,
    atOnce: options.maxWritesInFlight,
  });
  const passes = new PassRunner({
    view,
    writes,
    reports,
    queue,
    clock,
    writesPerPass: options.dryRun ? UNLIMITED : WRITES_PER_PASS,
  });
  const namespacesKnown = () => namespaces.areKnown();
  const reconciler = new Reconciler({ view, api, bodies, reports, passes, namespacesKnown });
  const processor = new Processor({ queue, reconciler, reports, log });
  const workers = new Workers({
    queue,
    process: (key) => processor.process(key),
    concurrency: options.workers,
    drainMs: DRAIN_MS,
    clock,
    logger: log,
  });
  return new Controller({
    configMaps,
    namespaces,
    mutations,
    fights,
    concernedSources: (object) => concernedSources(object, view),
    dependsOnNamespaces: (object) => dependsOnNamespaces(object, vocabulary),
    queue,
    workers,
    processor,
    resyncMs: options.resyncMs,
    clock,
    log,
  });
}
