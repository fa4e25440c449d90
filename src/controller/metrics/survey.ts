import type { Clock } from '../../clock/clock.ts';
import { TurnBudget } from '../../clock/turn-budget.ts';
import type { Lister } from '../../informer/lister.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import {
  absentSource,
  COMPANION_STATES,
  companionsOf,
  type Entry,
  entriesOfAbsentSource,
  entriesOfSource,
  isBlockable,
  leftAsTheyAre,
  nobodys,
} from '../../mirror/explain/inventory.ts';
import { type ObservedConfigMap, usesOf } from '../../mirror/observe/observed-config-map.ts';
import { isRevision, revisionKey } from '../../mirror/observe/revision.ts';
import { dependsOnNamespaces } from '../../mirror/plan/concerns.ts';
import { desiredOf } from '../../mirror/plan/desired.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Rendering } from '../../mirror/render/rendering.ts';
import { CANARY_STATES } from '../../mirror/rollout/rollout.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { Renderings } from '../write/renderings.ts';

/**
 * The state of a source, the first that applies:
 * - `invalid`: one of its annotations is, or a placeholder has no value somewhere.
 * - `waiting`: it is being deleted, or the Namespaces are not known yet.
 * - `unsynced`: a companion must be created, changed or deleted.
 * - `conflict`: a companion is in conflict.
 * - `in sync`: there is nothing to do.
 */
export const SOURCE_STATES = ['in sync', 'unsynced', 'conflict', 'waiting', 'invalid'] as const;
type SourceState = (typeof SOURCE_STATES)[number];

export interface SurveyDeps {
  readonly view: ClusterView;
  /** A scrape reads nothing: what is not in the cache counts as waiting. */
  readonly renderings: Pick<Renderings, 'prepareFromCache'>;
  readonly configMaps: Pick<Lister<ObservedConfigMap>, 'values'>;
  /** Knows of objects that are in the way and that the watch does not show. */
  readonly memory: Pick<CompanionMemory, 'isInConflict' | 'isBlocked'>;
  readonly areNamespacesSynced: () => boolean;
  readonly clock: Clock;
}

/** What a survey found. Every state has a number. */
export interface Findings {
  readonly sources: ReadonlyMap<string, number>;
  readonly companions: ReadonlyMap<string, number>;
  /** How many of them wait, are held, or only somebody else can settle (SPEC D8). */
  readonly left: ReadonlyMap<string, number>;
  /** Sources with a canary that are not pinned, by its state. */
  readonly canaries: ReadonlyMap<string, number>;
  /**
   * Time (ms) for which a companion has been unsynced, at most, from the first survey that found it
   * so; 0: all are synced. A write of the companion begins it again.
   */
  readonly oldestUnsyncedMs: number;
}

/** An unsynced companion. */
interface Unsynced {
  /** resourceVersion of the companion; empty: it is missing. */
  readonly version: string;
  readonly since: number;
}

/**
 * Counts sources and companions by their state, by planning every source from the cache (SPEC O1).
 * So it costs nothing between scrapes, and a standby can do it too.
 */
export class Survey {
  readonly #deps: SurveyDeps;
  #underWay: Promise<Findings> | undefined;
  #unsynced: ReadonlyMap<ObjectKey, Unsynced> = new Map();

  constructor(deps: SurveyDeps) {
    this.#deps = deps;
  }

  /** Takes turns of the event loop of about 10 ms. All who ask meanwhile get the same findings. */
  take(): Promise<Findings> {
    this.#underWay ??= this.#take().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #take(): Promise<Findings> {
    const { view, renderings, configMaps, clock } = this.#deps;
    const turns = new TurnBudget(clock);
    const count = new Count(this.#unsynced, clock.now(), view);
    // A copy: what the lister gives must be used up within one turn.
    const objects = [...configMaps.values()];
    for (const source of objects.filter(({ request }) => request !== undefined)) {
      const rendering = usesOf(source) && (await renderings.prepareFromCache(source).catch(() => undefined));
      await turns.take(() => this.#addSource(source, rendering, count));
    }
    const others = objects.filter(
      (object) => object.request === undefined && !isRevision(object, view.settings.vocabulary),
    );
    const absent = new Set<ObjectKey>();
    await turns.each(others, (object) => {
      const source = absentSource(object, view);
      if (source !== undefined) absent.add(source);
    });
    await turns.each(absent, (source) => count.all(entriesOfAbsentSource(source, undefined, view)));
    await turns.each(others, (object) => {
      if (!count.covered.has(object.key)) count.all(nobodys(object, view));
    });
    this.#unsynced = count.unsynced;
    return count.findings();
  }

  #addSource(source: ObservedConfigMap, rendering: Rendering | undefined, count: Count): void {
    const { view, memory, areNamespacesSynced } = this.#deps;
    const { request, key, deleting } = source;
    if (dependsOnNamespaces(source, view.settings.vocabulary) && !areNamespacesSynced()) {
      count.source('waiting');
      count.all(
        leftAsTheyAre(key, companionsOf(source, view), 'waiting', 'the Namespaces are not known yet'),
      );
      return;
    }
    // The watch does not show an unlabelled object, but we have met it. If it has the name of the
    // revision that must be kept first, all companions wait.
    const isTaken = ({ companion = key }: Entry) =>
      memory.isInConflict(key, companion) || memory.isBlocked(key, revisionKey(source, source.digest));
    const entries = entriesOfSource(source, rendering, view).map(
      (entry): Entry =>
        isBlockable(entry) && isTaken(entry) ? { ...entry, action: 'none', state: 'conflict' } : entry,
    );
    count.all(entries);
    const isUnknown = usesOf(source) !== undefined && rendering === undefined;
    if (!isUnknown) count.canary(source, rendering);
    if (!request?.ok || entries.some(({ state }) => state === 'invalid')) count.source('invalid');
    else if (deleting || isUnknown) count.source('waiting');
    else if (entries.some(isUnsynced)) count.source('unsynced');
    else count.source(entries.some(({ state }) => state === 'conflict') ? 'conflict' : 'in sync');
  }
}

/** Whether a write is due. One in a namespace that does not exist yet is missing, but not due. */
function isUnsynced({ action }: Entry): boolean {
  return action !== 'none' && action !== 'defer';
}

/** States in which a companion is left as it is: on purpose, or until somebody acts. */
const LEFT_STATES = ['waiting', 'held', 'missing', 'conflict', 'refused', 'invalid'] as const;

/** One that is missing only because it is to be created is not. */
function isLeft({ action, state }: Entry): boolean {
  return action !== 'create' && LEFT_STATES.some((left) => left === state);
}

/** The numbers of one survey. If two sources want one name, it counts for both. */
class Count {
  readonly unsynced = new Map<ObjectKey, Unsynced>();
  /** The companions that have an entry. */
  readonly covered = new Set<ObjectKey>();
  readonly #before: ReadonlyMap<ObjectKey, Unsynced>;
  readonly #now: number;
  readonly #view: ClusterView;
  readonly #sources = zeroes(SOURCE_STATES);
  readonly #companions = zeroes(COMPANION_STATES);
  readonly #left = zeroes(LEFT_STATES);
  readonly #canaries = zeroes(CANARY_STATES);
  #oldest: number;

  constructor(before: ReadonlyMap<ObjectKey, Unsynced>, now: number, view: ClusterView) {
    this.#before = before;
    this.#now = now;
    this.#view = view;
    this.#oldest = now;
  }

  source(state: SourceState): void {
    increase(this.#sources, state);
  }

  canary(source: ObservedConfigMap, rendering: Rendering | undefined): void {
    if (!source.request?.ok || source.request.value.rollout?.canary === undefined) return;
    const state = desiredOf(source, source.request.value, rendering, this.#view).rollout?.state;
    if (state !== undefined) increase(this.#canaries, state);
  }

  all(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { companion, state } = entry;
      if (companion === undefined) continue;
      this.covered.add(companion);
      increase(this.#companions, state);
      if (isLeft(entry)) increase(this.#left, state);
      if (isUnsynced(entry)) this.#noteUnsynced(companion);
    }
  }

  #noteUnsynced(companion: ObjectKey): void {
    const version = this.#view.configMap(companion)?.resourceVersion ?? '';
    const before = this.#before.get(companion);
    const unsynced = before?.version === version ? before : { version, since: this.#now };
    this.unsynced.set(companion, unsynced);
    this.#oldest = Math.min(this.#oldest, unsynced.since);
  }

  findings(): Findings {
    return {
      sources: byLabel(this.#sources),
      companions: byLabel(this.#companions),
      left: byLabel(this.#left),
      canaries: byLabel(this.#canaries),
      oldestUnsyncedMs: this.#now - this.#oldest,
    };
  }
}

function zeroes(states: readonly string[]): Map<string, number> {
  return new Map(states.map((state) => [state, 0]));
}

function increase(counts: Map<string, number>, state: string): void {
  counts.set(state, (counts.get(state) ?? 0) + 1);
}

/** Values of labels are written as identifiers: `in_sync`. */
function byLabel(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(Array.from(counts, ([state, count]) => [state.replaceAll(' ', '_'), count]));
}
