import { aborted, type Clock } from '../clock/clock.ts';
import type { ListWatch } from '../kube/api/list-watch.ts';
import type { KubeObject } from '../kube/api/types.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Handler, HandlerSet } from './handler.ts';
import type { Indexers, Lister, Stored } from './lister.ts';
import { Reflector } from './reflector.ts';
import type { RestartReason } from './restart-reason.ts';
import { Store } from './store.ts';

export interface InformerOptions<T extends KubeObject, S extends Stored, I extends string> {
  /** Names this informer in the log. */
  readonly name: string;
  /**
   * What to watch, by the name that the log gives it: one entry for the whole cluster, or one for
   * each namespace. No object may come from two of them. Each is listed, watched and backed off
   * independently.
   */
  readonly listWatches: ReadonlyMap<string, ListWatch<T>>;
  /**
   * Returns what to keep of an object: its key, uid and resourceVersion unchanged, and whatever
   * else is needed. Must not throw, nor keep a reference to the object or its parts that it does
   * not need. The result is frozen. Not called for a version that the store already holds, unless
   * the server's history started over.
   */
  readonly transform: (object: T) => S;
  readonly indexers: Indexers<S, I>;
  readonly clock: Clock;
  /** Returns a number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  /** Called whenever a list or watch has ended, for whatever reason. */
  readonly onRestart?: ((reason: RestartReason) => void) | undefined;
}

/**
 * A cache of one kind of object that follows the cluster and calls its handlers for every change.
 * Only its signal stops it.
 */
export interface Informer<S extends Stored, I extends string = string> {
  readonly lister: Lister<S, I>;
  /**
   * Handlers are called in the order in which they were added. Throws once the informer runs, since
   * a late handler would have missed what is there already.
   */
  addHandler(handler: Handler<S>): void;
  /** Resolves when everything has stopped after `signal` aborted. May be called once. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Whether the store holds the whole first list and the handlers have been called for it. A scope
   * that we may not list (403) is not waited for if there is another. Stays true.
   */
  isSynced(): boolean;
  /** Whether every scope has been listed, those included that are not waited for. Stays true. */
  isComplete(): boolean;
  /** Resolves once synced, or as soon as `signal` aborts: check the signal. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Failed lists and watches in a row, in the scope where that is most. 0 while all is well. */
  failures(): number;
  /**
   * When the server last sent something, a bookmark included, on the clock: in the scope where that
   * is longest ago. Before the first time, when `run` was called; undefined before that.
   */
  heardAt(): number | undefined;
  /** See `ConnectionHealth.silentMs`; of the scope where it is most. */
  silentMs(): number;
}

export function createInformer<T extends KubeObject, S extends Stored, I extends string>(
  options: InformerOptions<T, S, I>,
): Informer<S, I> {
  const { listWatches, transform, indexers, clock, random, onRestart = () => undefined } = options;
  const log = options.log.child({ informer: options.name });
  const handlers = new HandlerSet<S>(log);
  let startedAt: number | undefined;

  const synced = new AbortController();
  const onOutcome = () => {
    const waiting = reflectors.filter(({ partition }) => !partition.hasListed);
    if (waiting.length < reflectors.length && waiting.every(({ health }) => health.isRefused)) synced.abort();
  };
  const common = { transform, indexers, handlers, onOutcome, onRestart, clock, random };
  const reflectors = Array.from(
    listWatches,
    ([scope, listWatch]) => new Reflector({ ...common, listWatch, log: log.child({ scope }) }),
  );

  return {
    lister: new Store(reflectors.map(({ partition }) => partition)),
    addHandler: (handler) => {
      if (startedAt !== undefined) throw new Error('addHandler: call it before run()');
      handlers.add(handler);
    },
    run: async (signal) => {
      if (startedAt !== undefined) throw new Error('run: an informer can be started only once');
      startedAt = clock.now();
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
    isSynced: () => synced.signal.aborted,
    isComplete: () => reflectors.every(({ partition }) => partition.hasListed),
    whenSynced: (signal) => Promise.race([aborted(synced.signal), aborted(signal)]),
    failures: () => Math.max(0, ...reflectors.map(({ health }) => health.failures)),
    heardAt: () => {
      const begun = startedAt;
      if (begun === undefined) return undefined;
      return Math.min(...reflectors.map(({ health }) => health.heardAt ?? begun));
    },
    silentMs: () => Math.max(0, ...reflectors.map(({ health }) => health.silentMs())),
  };
}
