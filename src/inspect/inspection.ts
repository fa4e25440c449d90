import { setMaxListeners } from 'node:events';
import { type Clock, sleep } from '../clock/clock.ts';
import { Namespaces } from '../controller/events/namespaces.ts';
import { createInformers, type InformerDeps } from '../controller/informers.ts';
import { StaleSourceError } from '../controller/memory/failure.ts';
import { type ConfigMapIndex, createClusterView } from '../controller/reconcile/cluster-view.ts';
import { ReadQueue } from '../controller/reconcile/read-queue.ts';
import { Renderings } from '../controller/write/renderings.ts';
import { SourceBodies } from '../controller/write/source-bodies.ts';
import type { Informer } from '../informer/informer.ts';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../kube/api/types.ts';
import { ifFound, isForbidden, isNotFound } from '../kube/errors.ts';
import { type Entry, type RenderingsBySource, takeInventory } from '../mirror/explain/inventory.ts';
import {
  absentSources,
  entryMeeting,
  isUnconfirmed,
  missingRevisions,
} from '../mirror/explain/live-reads.ts';
import { type ObservedConfigMap, observe, usesOf } from '../mirror/observe/observed-config-map.ts';
import { dependsOnNamespaces } from '../mirror/plan/concerns.ts';
import { isInScope } from '../mirror/plan/placement.ts';
import type { ClusterView, MirrorSettings } from '../mirror/plan/view.ts';
import type { Rendering } from '../mirror/render/rendering.ts';
import { type Manifests, NO_MANIFESTS } from './manifests.ts';
import { overlaid } from './overlay.ts';

export interface InspectionDeps extends InformerDeps {
  readonly api: Pick<ConfigMapApi, 'get'>;
  /** Rejects as `ConfigMapApi.get` does. */
  readonly readNamespace: (name: string) => Promise<Namespace>;
}

/** Lists have failed for about 10 s, so there is nothing to show. */
export class ListFailedError extends Error {
  override readonly name = 'ListFailedError';
}

/** Failed lists in a row that end the wait. */
const GIVE_UP_LISTING_AFTER = 5;
/** How often (ms) the wait looks whether the caches are complete. */
const SYNC_POLL_MS = 10;
/** Maximum size (bytes) of what is kept between two looks, to render sources again. */
const CACHE_BYTES = 64 * 1024 * 1024;

const NOTHING_MEASURED = { unwantedMs: () => undefined };
const NOTHING_DELETED = { recent: () => new Set<string>() };

/**
 * The cluster for commands that only look. It follows the cluster as the controller does, applies
 * the same rules, and writes nothing.
 */
export class Inspection {
  readonly #settings: MirrorSettings;
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #readNamespace: InspectionDeps['readNamespace'];
  readonly #clock: Clock;
  readonly #configMaps: Informer<ObservedConfigMap, ConfigMapIndex>;
  readonly #namespaces: Namespaces;
  readonly #bodies: SourceBodies;
  #changes = 0;
  readonly #reads = new ReadQueue();

  constructor(settings: MirrorSettings, deps: InspectionDeps) {
    const { configMaps, namespaces } = createInformers(deps, settings);
    this.#settings = settings;
    this.#api = deps.api;
    this.#readNamespace = deps.readNamespace;
    this.#bodies = new SourceBodies(deps.api, CACHE_BYTES);
    this.#clock = deps.clock;
    this.#configMaps = configMaps;
    this.#namespaces = new Namespaces(namespaces);
  }

  /** Changes seen so far, to see whether there were more. */
  get changes(): number {
    return this.#changes;
  }

  /** Follows the cluster until `signal` aborts. May be called once. */
  async run(signal: AbortSignal): Promise<void> {
    // Every watch listens to it, and Node would report more than ten listeners as a leak.
    setMaxListeners(0, signal);
    const onChange = () => {
      this.#changes += 1;
    };
    const changed = (object: ObservedConfigMap) => {
      if (dependsOnNamespaces(object, this.#settings.vocabulary)) this.#namespaces.demand();
      onChange();
    };
    this.#configMaps.addHandler({ add: changed, update: (_, item) => changed(item), delete: onChange });
    this.#namespaces.informer.addHandler({ add: onChange, update: onChange, delete: onChange });
    await Promise.all([this.#configMaps.run(signal), this.#namespaces.run(signal, onChange)]);
  }

  /**
   * Resolves once the caches are complete, or as soon as `signal` aborts.
   * @throws ListFailedError
   */
  async whenSynced(signal: AbortSignal): Promise<void> {
    const configMaps = this.#configMaps;
    const namespaces = this.#namespaces;
    while (!signal.aborted && !(configMaps.isComplete() && !namespaces.isPending())) {
      if (Math.max(configMaps.failures(), namespaces.informer.failures()) >= GIVE_UP_LISTING_AFTER) {
        const kind = configMaps.isComplete() ? 'Namespaces' : 'ConfigMaps';
        throw new ListFailedError(`the list of ${kind} keeps failing`);
      }
      await sleep(this.#clock, SYNC_POLL_MS, signal);
    }
  }

  /**
   * The cluster as it is now, or as it would be once manifests were applied. Rejects with what a
   * live read fails with.
   */
  async look(signal: AbortSignal, options: LookOptions = {}): Promise<Look> {
    const { manifests = NO_MANIFESTS, confirm = () => false } = options;
    const { vocabulary } = this.#settings;
    const applied = await overlaid(manifests, {
      settings: this.#settings,
      configMaps: this.#configMaps.lister,
      namespaces: this.#namespaces.informer.lister,
      read: (key) => this.#read(key),
      readNamespace: (name) => ifFound(this.#readNamespace(name)),
      now: this.#clock.wallTime(),
    });
    for (const body of applied.bodies.values()) {
      if (dependsOnNamespaces(observe(body, vocabulary), vocabulary)) this.#namespaces.demand();
    }
    await this.whenSynced(signal);
    /** Those that have the name of a revision, though the watch does not show them. */
    const met = new Map<ObjectKey, ObservedConfigMap | undefined>();
    const view = createClusterView({
      settings: this.#settings,
      configMaps: applied.configMaps,
      namespaces: applied.namespaces,
      mutations: { newest: (key, seen) => seen ?? met.get(key), writtenFor: () => [] },
      memory: NOTHING_MEASURED,
      deletions: NOTHING_DELETED,
      versions: {
        unsettledMs: (source, settleMs) => this.#unsettledMs(applied.configMaps.get(source), settleMs),
      },
      clock: this.#clock,
    });
    const body = async (key: ObjectKey) => applied.bodies.get(key) ?? (await this.#read(key));
    const observed = async (key: ObjectKey) => {
      const object = await body(key);
      return object && observe(object, vocabulary);
    };
    await this.#reads.each(missingRevisions(applied.configMaps.values(), view), async (key) => {
      met.set(key, await observed(key));
    });
    const hasNamespace = async (name: string) =>
      view.namespace(name) !== undefined || (await this.#mayExist(name));
    const live = new Map<ObjectKey, ObservedConfigMap | undefined>();
    await this.#reads.each(absentSources(applied.configMaps.values(), view), async (key) => {
      live.set(key, await observed(key));
    });
    const bodies =
      applied.bodies.size === 0 ? this.#bodies : new SourceBodies({ get: found(body) }, CACHE_BYTES);
    const renderer = new Renderings({ view, bodies, clock: this.#clock });
    const rendering: Look['rendering'] = (source) => renderer.prepare(source).catch(unlessStale);
    const renderings = new Map<ObjectKey, Rendering>();
    const templates = [...applied.configMaps.values()].filter((object) => usesOf(object) !== undefined);
    await this.#reads.each(templates, async (source) => {
      const rendered = await rendering(source);
      if (rendered !== undefined) renderings.set(source.key, rendered);
    });
    const entries = [...takeInventory(applied.configMaps.values(), live, renderings, view)];
    const unconfirmed = [...entries.entries()].filter(([, entry]) => isUnconfirmed(entry) && confirm(entry));
    await this.#reads.each(unconfirmed, async ([at, entry]) => {
      const actual = entry.companion && (await observed(entry.companion));
      entries[at] = entryMeeting(entry, actual, renderings, view);
    });
    return { entries, view, renderings, rendering, body, observed, hasNamespace };
  }

  /** By the last write of the source: nobody has seen here when its content changed. */
  #unsettledMs(source: ObservedConfigMap | undefined, settleMs: number): number {
    if (source?.writtenAt === undefined) return 0;
    const quietAt = (source.writtenAt + 1) * 1000 + settleMs;
    return Math.max(0, quietAt - this.#clock.wallTime().getTime());
  }

  #read(key: ObjectKey): Promise<ConfigMap | undefined> {
    return ifFound(this.#api.get(key));
  }

  async #mayExist(name: string): Promise<boolean> {
    if (!isInScope(name, this.#settings.bounds)) return true;
    try {
      return (await ifFound(this.#readNamespace(name))) !== undefined;
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  }
}

export interface LookOptions {
  /** As if they had been applied. */
  readonly manifests?: Manifests;
  /** Which creations a live read of the companion's name confirms; default none. */
  readonly confirm?: (entry: Entry) => boolean;
}

/** What an {@link Inspection} saw. */
export interface Look {
  readonly entries: readonly Entry[];
  readonly view: ClusterView;
  readonly renderings: RenderingsBySource;
  /** Of a source that was read; undefined: it has nothing to render, or has changed meanwhile. */
  rendering(source: ObservedConfigMap): Promise<Rendering | undefined>;
  /** The whole ConfigMap at a key, read from the server; undefined: there is none. */
  body(key: ObjectKey): Promise<ConfigMap | undefined>;
  /** The same as the rules see it. */
  observed(key: ObjectKey): Promise<ObservedConfigMap | undefined>;
  /** Whether a namespace exists. One that may not be read, or is not among --namespaces, counts. */
  hasNamespace(name: string): Promise<boolean>;
}

const found = (body: Look['body']) => async (key: ObjectKey) => {
  const object = await body(key);
  if (object === undefined) throw new StaleSourceError('the ConfigMap is gone');
  return object;
};

function unlessStale(error: unknown): undefined {
  if (!(error instanceof StaleSourceError) && !isNotFound(error)) throw error;
}
