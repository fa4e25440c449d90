import type { Clock } from '../clock/clock.ts';
import type { ListWatch } from '../kube/api/list-watch.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { KubeObject } from '../kube/api/types.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Handler, HandlerSet } from './handler.ts';
import type { Indexers, Lister, Stored } from './lister.ts';
import { Reflector } from './reflector.ts';
import { Store } from './store.ts';

export interface InformerOptions<T extends KubeObject, S extends Stored, I extends string> {
  /** Tells this informer from others in the log. */
  readonly name: string;
  /**
   * What to watch, by the name that the log gives it: one for the whole cluster, or one for each namespace.
   * No object may come from two of them. Each is listed, watched and backed off by itself.
   */
  readonly listWatches: ReadonlyMap<string, ListWatch<T>>;
  /**
   * Makes what is kept of an object: its key, uid and resourceVersion unchanged, and whatever else is
   * wanted. `known` finds what is kept of others, for what they have in common. Must not throw, nor hold on to the
   * object or to a part of it that it does not want kept. Not called for a version that the store has already.
   */
  readonly transform: (object: T, known: (key: ObjectKey) => S | undefined) => S;
  readonly indexers: Indexers<S, I>;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * A cache of one kind of object that follows the cluster, and tells its handlers what changed. Once
 * started it never gives up: it stops only by its signal.
 */
export interface Informer<S extends Stored, I extends string = string> {
  readonly lister: Lister<S, I>;
  /**
   * Before `run` only: throws afterwards, since a late handler would have missed what is there already. Handlers
   * are told of a change in the order in which they were added.
   */
  addHandler(handler: Handler<S>): void;
  /** Resolves when everything has stopped after `signal` aborted. May be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether all of the first list is in the store and the handlers know of it. Stays true. */
  isSynced(): boolean;
  /** Resolves once synced, or as soon as `signal` aborts: look at the signal. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /**
   * Monotonic milliseconds since the server last sent something of use over the watch that has been quiet
   * the longest. About 60,000 at most while all is well.
   */
  staleMs(): number;
  /** How often in a row the server could not be listed or watched: of the scope where that is most. 0 while all is well. */
  failures(): number;
}

export function createInformer<T extends KubeObject, S extends Stored, I extends string>(
  options: InformerOptions<T, S, I>,
): Informer<S, I> {
  return new SharedInformer(options);
}

class SharedInformer<T extends KubeObject, S extends Stored, I extends string> implements Informer<S, I> {
  readonly lister: Lister<S, I>;
  readonly #handlers: HandlerSet<S>;
  readonly #reflectors: readonly Reflector<T, S>[];
  /** Scopes whose first list is not complete. */
  readonly #unsynced: Set<string>;
  readonly #waiting = new Set<() => void>();
  #started = false;

  constructor(options: InformerOptions<T, S, I>) {
    const { listWatches, transform, clock, random } = options;
    const log = options.log.child({ informer: options.name });
    const store = new Store(options.indexers);
    const handlers = new HandlerSet<S>(log);
    this.lister = store.lister;
    this.#handlers = handlers;
    this.#unsynced = new Set(listWatches.keys());
    this.#reflectors = Array.from(listWatches, ([scope, listWatch]) => {
      const writer = store.addPartition();
      const scoped = log.child({ scope });
      return new Reflector({ listWatch, writer, transform, handlers, clock, random, log: scoped }, () =>
        this.#listed(scope),
      );
    });
  }

  addHandler(handler: Handler<S>): void {
    if (this.#started) throw new Error('addHandler: the informer runs already, add handlers before run()');
    this.#handlers.add(handler);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#started) throw new Error('run: the informer was started before, make a new one');
    this.#started = true;
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  isSynced(): boolean {
    return this.#unsynced.size === 0;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    if (this.isSynced() || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  staleMs(): number {
    return Math.max(0, ...this.#reflectors.map((reflector) => reflector.staleMs()));
  }

  failures(): number {
    return Math.max(0, ...this.#reflectors.map((reflector) => reflector.failures()));
  }

  #listed(scope: string): void {
    this.#unsynced.delete(scope);
    if (this.isSynced()) for (const wake of this.#waiting) wake();
  }
}
