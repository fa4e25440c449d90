import type { Clock } from '../../clock/clock.ts';
import type { Lister } from '../../informer/lister.ts';
import { TurnBudget } from '../../informer/turn-budget.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { companionShape } from '../../mirror/companion/companion.ts';
import { isCompanionOf } from '../../mirror/companion/ownership.ts';
import { type ObservedConfigMap, sourceReference } from '../../mirror/observe/observed-config-map.ts';
import { planSource } from '../../mirror/plan/plan.ts';
import { planOrphans } from '../../mirror/plan/removal.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';

/**
 * The state of a companion of one source. If two sources want one name, it counts for both.
 * - `in_sync`: it is as its source asks.
 * - `missing`, `drifted`: it must be created, or changed.
 * - `orphaned`: it must be deleted; no source wants it.
 * - `conflict`: a different object has the name.
 * - `refused`: the administrator or the namespace's owner does not allow it, or its source is not
 *   among `--namespaces`.
 * - `invalid`: an annotation of its source is invalid, so it is left as it is.
 * - `retained`: no longer wanted, but kept as the source asked.
 * - `waiting`: it, its source or its namespace is being deleted, the namespace does not exist, or
 *   the Namespaces are not known yet.
 */
export const COMPANION_STATES = [
  'in_sync',
  'missing',
  'drifted',
  'orphaned',
  'conflict',
  'refused',
  'invalid',
  'retained',
  'waiting',
] as const;
type CompanionState = (typeof COMPANION_STATES)[number];

/**
 * The state of a source, the first that applies:
 * - `invalid`: one of its annotations is.
 * - `waiting`: it is being deleted, or the Namespaces are not known yet.
 * - `unsynced`: a companion is missing, drifted or orphaned.
 * - `conflict`: a companion is in conflict.
 * - `in_sync`: there is nothing to do.
 */
export const SOURCE_STATES = ['in_sync', 'unsynced', 'conflict', 'waiting', 'invalid'] as const;
type SourceState = (typeof SOURCE_STATES)[number];

const STATE_OF: Readonly<Record<Step['state'], CompanionState>> = {
  'in sync': 'in_sync',
  missing: 'missing',
  drifted: 'drifted',
  unwanted: 'orphaned',
  conflict: 'conflict',
  refused: 'refused',
  retained: 'retained',
  waiting: 'waiting',
  'no namespace': 'waiting',
};
const UNSYNCED: ReadonlySet<CompanionState> = new Set(['missing', 'drifted', 'orphaned']);

export interface SurveyDeps {
  readonly view: ClusterView;
  readonly configMaps: Pick<Lister<ObservedConfigMap>, 'values'>;
  /** Knows of objects that are in the way and that the watch does not show. */
  readonly memory: Pick<CompanionMemory, 'problem'>;
  readonly areNamespacesSynced: () => boolean;
  readonly clock: Clock;
}

/** What a survey found. Every state has a number. */
export interface Findings {
  readonly sources: ReadonlyMap<string, number>;
  readonly companions: ReadonlyMap<string, number>;
  /**
   * Time (ms) since the first survey that found the companion unsynced that has been so longest; 0:
   * all are synced. A companion that was written in between counts anew.
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
 * So it costs nothing until somebody asks, and a standby can do it too.
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
    const { configMaps, clock } = this.#deps;
    const turns = new TurnBudget(clock);
    const { signal } = new AbortController();
    const count = new Count(this.#unsynced, clock.now());
    const orphaned = new Set<ObjectKey>();
    // A copy: what the lister gives must be used up within one turn.
    const addObject = (object: ObservedConfigMap) => {
      if (object.request !== undefined) this.#addSource(object, count);
      else this.#noteOrphan(object, orphaned);
    };
    await turns.each([...configMaps.values()], addObject, signal);
    await turns.each(orphaned, (source) => this.#addOrphans(source, count), signal);
    this.#unsynced = count.unsynced;
    return count.findings();
  }

  #addSource(source: ObservedConfigMap, count: Count): void {
    const { view, memory, areNamespacesSynced } = this.#deps;
    const { request, key } = source;
    if (!request?.ok) {
      this.#addUnplanned(source, 'invalid', count);
    } else if (source.deleting || (request.value.targets !== undefined && !areNamespacesSynced())) {
      this.#addUnplanned(source, 'waiting', count);
    } else {
      const shape = companionShape(source, request.value, view.settings.vocabulary);
      const states = planSource(shape, view).map((step) => {
        // The watch does not show an unlabelled object, but we have met it.
        const isTaken = step.action === 'create' && memory.problem(key, step.companion)?.kind === 'conflict';
        return count.companion(step, isTaken ? 'conflict' : STATE_OF[step.state]);
      });
      if (states.some((state) => UNSYNCED.has(state))) count.source('unsynced');
      else count.source(states.includes('conflict') ? 'conflict' : 'in_sync');
    }
  }

  /** The companions of a source that is not planned. */
  #addUnplanned(source: ObservedConfigMap, state: 'invalid' | 'waiting', count: Count): void {
    const { view } = this.#deps;
    count.source(state);
    for (const object of view.referrers(source)) {
      if (isCompanionOf(object, source, view.settings.vocabulary)) count.add(state);
    }
  }

  #noteOrphan(object: ObservedConfigMap, orphaned: Set<ObjectKey>): void {
    const { view } = this.#deps;
    const source = sourceReference(object, view.settings.vocabulary);
    if (source !== undefined && view.configMap(source)?.request === undefined) orphaned.add(source);
  }

  /** The companions of a source that is gone, unlabelled, or not ours to watch. */
  #addOrphans(source: ObjectKey, count: Count): void {
    const { view } = this.#deps;
    const { bounds, vocabulary } = view.settings;
    if (bounds.namespaces === undefined || bounds.namespaces.has(splitKey(source).namespace)) {
      for (const step of planOrphans(source, undefined, view)) count.companion(step, STATE_OF[step.state]);
      return;
    }
    const identity = { key: source, uid: undefined };
    for (const object of view.referrers(identity)) {
      if (isCompanionOf(object, identity, vocabulary)) count.add('refused');
    }
  }
}

/** The numbers of one survey. */
class Count {
  readonly unsynced = new Map<ObjectKey, Unsynced>();
  readonly #before: ReadonlyMap<ObjectKey, Unsynced>;
  readonly #now: number;
  readonly #sources = new Map<string, number>(SOURCE_STATES.map((state) => [state, 0]));
  readonly #companions = new Map<string, number>(COMPANION_STATES.map((state) => [state, 0]));
  #oldest: number;

  constructor(before: ReadonlyMap<ObjectKey, Unsynced>, now: number) {
    this.#before = before;
    this.#now = now;
    this.#oldest = now;
  }

  source(state: SourceState): void {
    this.#sources.set(state, (this.#sources.get(state) ?? 0) + 1);
  }

  companion(step: Step, state: CompanionState): CompanionState {
    this.add(state);
    if (UNSYNCED.has(state)) {
      const version = 'actual' in step ? step.actual.resourceVersion : '';
      const before = this.#before.get(step.companion);
      const unsynced = before?.version === version ? before : { version, since: this.#now };
      this.unsynced.set(step.companion, unsynced);
      this.#oldest = Math.min(this.#oldest, unsynced.since);
    }
    return state;
  }

  add(state: CompanionState): void {
    this.#companions.set(state, (this.#companions.get(state) ?? 0) + 1);
  }

  findings(): Findings {
    return {
      sources: this.#sources,
      companions: this.#companions,
      oldestUnsyncedMs: this.#now - this.#oldest,
    };
  }
}
