import { setMaxListeners } from 'node:events';
import { type Clock, every } from '../clock/clock.ts';
import type { Informer } from '../informer/informer.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { DelayingQueue } from '../workqueue/delaying-queue.ts';
import type { Workers } from '../workqueue/workers.ts';
import type { Namespaces } from './events/namespaces.ts';
import type { CompanionMemory } from './memory/companion-memory.ts';
import type { Reports } from './memory/reports.ts';
import type { ConfigMapIndex } from './reconcile/cluster-view.ts';
import type { MutationCache } from './write/mutation-cache.ts';
import type { Write, WriteQueue } from './write/write-queue.ts';

/** Failed lists in a row, over about ten seconds, after which {@link Controller.isSettled} no longer waits for one. */
const GIVE_UP_LISTING_AFTER = 5;
/** Failed attempts in a row, over about ten seconds, after which it no longer waits for a companion or a source. */
const GIVE_UP_AFTER = 8;

/** The parts of a controller, put together by `createController`. */
export interface ControllerParts {
  readonly configMaps: Informer<ObservedConfigMap, ConfigMapIndex>;
  readonly namespaces: Namespaces;
  readonly mutations: MutationCache;
  readonly memory: CompanionMemory;
  readonly reports: Reports;
  /** The keys of the sources that a ConfigMap concerns. */
  readonly concernedSources: (object: ObservedConfigMap) => Iterable<ObjectKey>;
  readonly dependsOnNamespaces: (object: ObservedConfigMap) => boolean;
  readonly queue: DelayingQueue<ObjectKey>;
  readonly writes: WriteQueue;
  readonly reconcilers: Workers<ObjectKey>;
  readonly writers: Workers<Write>;
  /** Milliseconds between two passes over all sources; 0: none. */
  readonly resyncMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Starts and stops the parts in the right order. */
export class Controller {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  /**
   * Follows the cluster until `signal` aborts; then hands out no more work, waits for the writes in flight (10 s at most),
   * and resolves. Survives every failure of the cluster. May be called once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { configMaps, namespaces, mutations, memory, reports, reconcilers, writers, log } = this.#parts;
    // Each watch of each namespace listens to it; Node would take more than ten listeners for a leak.
    setMaxListeners(0, signal);
    const background = Promise.all([
      configMaps.run(signal),
      namespaces.run(signal, () => this.#enqueueWhatDependsOnNamespaces()),
      mutations.run(signal, (object) => this.#enqueueConcerned(object)),
      memory.run(signal, (source, companion) => reports.peace(source, companion)),
    ]);
    // Before the cache is complete, a companion that is not in it would look like one that is missing.
    await configMaps.whenSynced(signal);
    if (!signal.aborted) log.info({ configMaps: configMaps.lister.size }, 'caches synced; mirroring');
    await Promise.all([reconcilers.run(signal), writers.run(signal), this.#resync(signal), background]);
  }

  /** Whether sources and companions are known and work on them has begun. */
  isSynced(): boolean {
    return this.#parts.configMaps.isSynced();
  }

  /** Whether nothing is left to do but to wait for changes, or for what does not depend on us. */
  isSettled(): boolean {
    const { queue, writes, memory } = this.#parts;
    const isWaitedFor = ({ failures }: { failures: number }) => failures < GIVE_UP_LISTING_AFTER;
    if (this.#incompleteLists().some(isWaitedFor) || !queue.isIdle || !writes.isIdle) return false;
    return [...memory.unfinished().values()].every((failures) => failures >= GIVE_UP_AFTER);
  }

  /** What has failed and may yet succeed: keys of sources, and kinds that could not be listed. */
  get unfinished(): readonly string[] {
    return [...this.#incompleteLists().map(({ kind }) => kind), ...this.#parts.memory.unfinished().keys()];
  }

  /** Every source once more from the cache, from time to time: a safety net under the events. */
  async #resync(signal: AbortSignal): Promise<void> {
    const { clock, resyncMs } = this.#parts;
    if (resyncMs > 0) await every(clock, resyncMs, signal, () => this.#enqueueSources());
  }

  /** The kinds whose first list is not complete. */
  #incompleteLists(): readonly { readonly kind: string; readonly failures: number }[] {
    const { configMaps, namespaces } = this.#parts;
    return [
      ...(configMaps.isSynced() ? [] : [{ kind: 'the list of ConfigMaps', failures: configMaps.failures() }]),
      ...(namespaces.isPending()
        ? [{ kind: 'the list of Namespaces', failures: namespaces.failures() }]
        : []),
    ];
  }

  #enqueueConcerned(object: ObservedConfigMap): void {
    const { queue, concernedSources } = this.#parts;
    for (const key of concernedSources(object)) queue.add(key, 'bulk');
  }

  #enqueueWhatDependsOnNamespaces(): void {
    const { configMaps, dependsOnNamespaces } = this.#parts;
    for (const object of configMaps.lister.values()) {
      if (dependsOnNamespaces(object)) this.#enqueueConcerned(object);
    }
  }

  #enqueueSources(): void {
    const { configMaps, queue } = this.#parts;
    for (const object of configMaps.lister.values()) {
      if (object.request !== undefined) queue.add(object.key, 'bulk');
    }
  }
}
