import { setMaxListeners } from 'node:events';
import { type Clock, every } from '../clock/clock.ts';
import { TurnBudget } from '../clock/turn-budget.ts';
import type { Informer } from '../informer/informer.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import { concernedSources, dependsOnNamespaces } from '../mirror/plan/concerns.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { DelayingQueue } from '../workqueue/delaying-queue.ts';
import type { Workers } from '../workqueue/workers.ts';
import type { Namespaces } from './events/namespaces.ts';
import type { CompanionMemory } from './memory/companion-memory.ts';
import type { Reports } from './memory/reports.ts';
import type { Survey } from './metrics/survey.ts';
import type { ConfigMapIndex } from './reconcile/cluster-view.ts';
import type { Sources } from './sources.ts';
import type { MutationCache } from './write/mutation-cache.ts';
import type { Write, WriteQueue } from './write/write-queue.ts';

/** Failed lists in a row (about 10 s of them) after which `isSettled` ignores the list. */
const GIVE_UP_LISTING_AFTER = 5;
/** Failed attempts in a row (about 10 s of them) after which it ignores a source. */
const GIVE_UP_AFTER = 8;

/** The parts of a controller, put together by `createController`. */
export interface ControllerParts {
  readonly configMaps: Informer<ObservedConfigMap, ConfigMapIndex>;
  readonly namespaces: Namespaces;
  readonly mutations: MutationCache;
  readonly memory: CompanionMemory;
  readonly reports: Reports;
  readonly sources: Sources;
  readonly view: ClusterView;
  readonly queue: DelayingQueue<ObjectKey>;
  readonly writes: WriteQueue;
  readonly reconcilers: Workers<ObjectKey>;
  readonly writers: Workers<Write>;
  readonly survey: Pick<Survey, 'take'>;
  /** Time (ms) between two passes over all sources; 0: none. */
  readonly resyncMs: number;
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What shows whether the controller is stuck, or not ready. */
export interface ControllerHealth {
  /** Lists that are needed and not complete. */
  readonly unsynced: readonly string[];
  /** Time (ms) for which an open list or watch has brought nothing, not even a bookmark. */
  readonly silentMs: { readonly configMaps: number; readonly namespaces: number };
  /** Age (ms) of the oldest write in flight; 0: there is none. */
  readonly oldestWriteMs: number;
  /** Time (ms) for which there has been work under way and none of it has ended. */
  readonly stalledMs: number;
}

/** Starts and stops the parts in the right order. */
export class Controller {
  readonly #parts: ControllerParts;

  constructor(parts: ControllerParts) {
    this.#parts = parts;
  }

  /**
   * Follows the cluster until `signal` aborts. Then it begins no more work, waits up to 10 s for
   * the writes in flight, and resolves. No failure of the cluster ends it; it rejects if a worker
   * dies, which is a fault in this program. May be called once.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { configMaps, namespaces, mutations, memory, reports, reconcilers, writers, mayWrite, log } =
      this.#parts;
    const { vocabulary } = this.#parts.view.settings;
    // Every watch listens to it, and Node would report more than ten listeners as a leak.
    setMaxListeners(0, signal);
    const background = Promise.all([
      configMaps.run(signal),
      namespaces.run(signal, () => this.#enqueueAll((object) => dependsOnNamespaces(object, vocabulary))),
      mutations.run(signal, (object) => this.#enqueueConcerned(object)),
      memory.run(signal, (source, companion) => reports.resolved(source, companion)),
    ]);
    // Until the cache is complete, every companion that it lacks would look missing.
    await configMaps.whenSynced(signal);
    const message = mayWrite() ? 'caches synced; mirroring' : 'caches synced';
    if (!signal.aborted) log.info({ configMaps: configMaps.lister.size }, message);
    await Promise.all([reconcilers.run(signal), writers.run(signal), this.#resync(signal), background]);
  }

  /**
   * Another process may have written until now; from now on only this one writes. Forgets its own
   * earlier failures and heals, and queues every source, also those that are gone: their problems
   * are over.
   */
  async takeOver(): Promise<void> {
    const { memory, queue } = this.#parts;
    memory.forgetWrites();
    for (const key of memory.sources()) queue.add(key, 'bulk');
    await this.#enqueueAll();
  }

  get sources(): Sources {
    return this.#parts.sources;
  }

  /** Whether all sources and companions are known. */
  isSynced(): boolean {
    return this.#parts.configMaps.isSynced();
  }

  /** Whether companions are being written. */
  get isWriting(): boolean {
    return !this.#parts.writes.isIdle;
  }

  /** Whether nothing is left to do, apart from what has failed too often to wait for. */
  isSettled(): boolean {
    const { configMaps, queue, writes, memory } = this.#parts;
    const isWaitedFor = ({ failures }: { failures: number }) => failures < GIVE_UP_LISTING_AFTER;
    const lists = this.#incompleteLists(configMaps.isComplete());
    if (lists.some(isWaitedFor) || !queue.isIdle || !writes.isIdle) return false;
    return [...memory.unfinished().values()].every((failures) => failures >= GIVE_UP_AFTER);
  }

  /** Numbers, above 0, of companions that are not as their sources ask, by state (SPEC D8). */
  async leftAsTheyAre(): Promise<Readonly<Record<string, number>>> {
    const { left } = await this.#parts.survey.take();
    return Object.fromEntries([...left].filter(([, count]) => count > 0));
  }

  /** What has failed or was rejected: source keys, and lists that are not complete. */
  get unfinished(): readonly string[] {
    const { configMaps, memory } = this.#parts;
    const lists = this.#incompleteLists(configMaps.isComplete());
    return [...lists.map(({ kind }) => kind), ...memory.unfinished().keys()];
  }

  /** How it runs, not how the cluster is. */
  health(): ControllerHealth {
    const { configMaps, namespaces, reconcilers, writers } = this.#parts;
    // A pass may wait for its writes to begin as long as other writes end.
    const stalled = [reconcilers, writers].filter((workers) => workers.oldestMs() > 0);
    return {
      unsynced: this.#incompleteLists(configMaps.isSynced()).map(({ kind }) => kind),
      silentMs: { configMaps: configMaps.silentMs(), namespaces: namespaces.informer.silentMs() },
      oldestWriteMs: writers.oldestMs(),
      stalledMs: stalled.length === 0 ? 0 : Math.min(...stalled.map((workers) => workers.stalledMs())),
    };
  }

  /** Queues every source from time to time, in case an event was missed. */
  async #resync(signal: AbortSignal): Promise<void> {
    const { clock, resyncMs } = this.#parts;
    if (resyncMs > 0) await every(clock, resyncMs, signal, () => void this.#enqueueAll());
  }

  #incompleteLists(hasConfigMaps: boolean): readonly { readonly kind: string; readonly failures: number }[] {
    const { configMaps, namespaces } = this.#parts;
    return [
      ...(hasConfigMaps ? [] : [{ kind: 'the list of ConfigMaps', failures: configMaps.failures() }]),
      ...(namespaces.isPending()
        ? [{ kind: 'the list of Namespaces', failures: namespaces.informer.failures() }]
        : []),
    ];
  }

  #enqueueConcerned(object: ObservedConfigMap): void {
    const { queue, view } = this.#parts;
    for (const key of concernedSources(object, view)) queue.add(key, 'bulk');
  }

  /** Queues what the objects of the cache concern, in turns of the event loop of about 10 ms. */
  async #enqueueAll(isMeant: (object: ObservedConfigMap) => boolean = () => true): Promise<void> {
    const { configMaps, clock } = this.#parts;
    // A copy: what the lister gives must be used up within one turn.
    await new TurnBudget(clock).each([...configMaps.lister.values()], (object) => {
      if (isMeant(object)) this.#enqueueConcerned(object);
    });
  }
}
