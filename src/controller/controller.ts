import { setMaxListeners } from 'node:events';
import { type Clock, every } from '../clock/clock.ts';
import type { Informer } from '../informer/informer.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { RateLimitingQueue } from '../workqueue/rate-limiting-queue.ts';
import type { Workers } from '../workqueue/workers.ts';
import type { ConfigMapIndex } from './cluster-view.ts';
import type { Fights } from './fights.ts';
import type { MutationCache } from './mutation-cache.ts';
import type { Namespaces } from './namespaces.ts';
import type { Processor } from './processor.ts';

/** A list that has failed so often in a row, over about ten seconds, is not waited for by {@link Controller.isSettled}. */
const GIVE_UP_LISTING_AFTER = 5;

/** The parts of a controller, put together by `createController`. */
export interface ControllerParts {
  readonly configMaps: Informer<ObservedConfigMap, ConfigMapIndex>;
  readonly namespaces: Namespaces;
  readonly mutations: MutationCache;
  readonly fights: Fights;
  /** The keys of the sources that a ConfigMap concerns. */
  readonly concernedSources: (object: ObservedConfigMap) => Iterable<ObjectKey>;
  readonly dependsOnNamespaces: (object: ObservedConfigMap) => boolean;
  readonly queue: RateLimitingQueue<ObjectKey>;
  readonly workers: Workers<ObjectKey>;
  readonly processor: Processor;
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
   * Follows the cluster until `signal` aborts; then hands out no more keys, waits for the writes under way (10 s at
   * most), and resolves. Survives every failure of the cluster. May be called once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { configMaps, namespaces, mutations, fights, workers, log } = this.#parts;
    // Each watch of each namespace listens to it; Node would take more than ten listeners for a leak.
    setMaxListeners(0, signal);
    const background = Promise.all([
      configMaps.run(signal),
      namespaces.run(signal, () => this.#enqueueWhatDependsOnNamespaces()),
      mutations.run(signal, (object) => this.#enqueueConcerned(object)),
      fights.run(signal),
    ]);
    // Before the cache is complete, a companion not in it would look like one that is missing.
    await configMaps.whenSynced(signal);
    if (!signal.aborted) log.info({ configMaps: configMaps.lister.size }, 'caches synced; mirroring');
    await Promise.all([workers.run(signal), this.#resync(signal), background]);
  }

  /** Whether sources and companions are known and work on them has begun. */
  hasSynced(): boolean {
    return this.#parts.configMaps.hasSynced();
  }

  /** Whether there is nothing left to do but to wait for changes, or for what does not depend on us. */
  isSettled(): boolean {
    const isWaitedFor = ({ failures }: { failures: number }) => failures < GIVE_UP_LISTING_AFTER;
    return !this.#incompleteLists().some(isWaitedFor) && this.#parts.processor.isSettled();
  }

  /** What of the latest passes failed: keys of sources, and kinds that could not be listed. */
  get unfinished(): readonly string[] {
    return [...this.#incompleteLists().map(({ kind }) => kind), ...this.#parts.processor.unfinished];
  }

  /** Every source once more from the cache, from time to time: a second net under the events, never the first. */
  async #resync(signal: AbortSignal): Promise<void> {
    const { clock, resyncMs } = this.#parts;
    if (resyncMs > 0) await every(clock, resyncMs, signal, () => this.#enqueueSources());
  }

  /** The kinds that are wanted and not known yet. */
  #incompleteLists(): readonly { readonly kind: string; readonly failures: number }[] {
    const { configMaps, namespaces } = this.#parts;
    return [
      ...(configMaps.hasSynced()
        ? []
        : [{ kind: 'the list of ConfigMaps', failures: configMaps.failures() }]),
      ...(namespaces.arePending()
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
