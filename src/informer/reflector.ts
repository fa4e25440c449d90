import { type Clock, sleep } from '../clock/clock.ts';
import type { ListWatch, WatchEvent } from '../kube/api/list-watch.ts';
import { keyOf } from '../kube/api/object-key.ts';
import { isOlder } from '../kube/api/resource-version.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { NetworkError } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ConnectionHealth } from './connection-health.ts';
import { deepFreeze } from './deep-freeze.ts';
import { guardedWatch, SilentWatchError } from './guarded-watch.ts';
import type { HandlerSet } from './handler.ts';
import type { IndexedMap } from './indexed-map.ts';
import type { Stored } from './lister.ts';
import { FIRST_PAGE_LIMIT, nextPageLimit } from './page-limit.ts';
import {
  type Ending,
  HistoryRestartedError,
  isHistoryRestart,
  type ReflectorState,
  recover,
} from './reflector-state.ts';
import type { Partition } from './store.ts';
import { TurnBudget } from './turn-budget.ts';

/**
 * Silence (ms) that ends a streamed list. A server that streams keeps sending; one that ignores the
 * request falls silent after the last object.
 */
const STREAMING_SILENCE_MS = 30_000;
/** Silence (ms) that ends a watch. A kube-apiserver sends a bookmark every 60 s. */
const WATCHING_SILENCE_MS = 90_000;
/**
 * Range (s) of the random time after which the server ends a watch, so that many clients' watches
 * do not end together.
 */
const WATCH_SECONDS = { least: 300, most: 600 };

type Watching = Extract<ReflectorState, { name: 'watching' }>;

export interface ReflectorDeps<T extends KubeObject, S extends Stored> {
  readonly listWatch: ListWatch<T>;
  readonly partition: Partition<S>;
  /** See `InformerOptions`. Also called for lists that are discarded. */
  readonly transform: (object: T) => S;
  readonly handlers: HandlerSet<S>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Keeps one partition of a store equal to what the server has, and calls the handlers for what
 * changed.
 */
export class Reflector<T extends KubeObject, S extends Stored> {
  readonly #deps: ReflectorDeps<T, S>;
  readonly #health: ConnectionHealth;
  readonly #turns: TurnBudget;
  readonly #onListed: () => void;
  #state: ReflectorState = { name: 'streaming', resourceVersion: undefined };
  #listed = false;

  /** `onListed` is called after each complete list, once the handlers have been called for it. */
  constructor(deps: ReflectorDeps<T, S>, onListed: () => void) {
    this.#deps = deps;
    this.#health = new ConnectionHealth(deps);
    this.#turns = new TurnBudget(deps.clock);
    this.#onListed = onListed;
  }

  /** Failed lists and watches in a row. */
  failures(): number {
    return this.#health.failures;
  }

  /**
   * Lists and watches until `signal` aborts, whatever goes wrong. Resolves when everything has
   * stopped; never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const ending = await this.#untilItEnds(signal);
      if (signal.aborted) return;
      const during = this.#state;
      const { state, backoff } = recover(during, ending);
      this.#state = state;
      this.#logRecovery(during, state, ending);
      if (!backoff) continue;
      const error = errorOf(ending);
      await sleep(this.#deps.clock, this.#health.failed(error, warningOf(error, during)), signal);
    }
  }

  /** Works in the present state and the ones that follow from it, as far as they go. */
  async #untilItEnds(signal: AbortSignal): Promise<Ending> {
    const state = this.#state;
    try {
      switch (state.name) {
        case 'streaming':
          return await this.#stream(signal);
        case 'paging':
          return await this.#watch(await this.#page(signal), signal);
        case 'watching':
          await this.#checkHistory(state, signal);
          return await this.#watch(state, signal);
      }
    } catch (error) {
      return error instanceof SilentWatchError ? { kind: 'silent' } : { kind: 'failed', error };
    }
  }

  async #stream(signal: AbortSignal): Promise<Ending> {
    const draft = this.#deps.partition.draft();
    const watch = this.#open({ sendInitialEvents: true }, signal);
    for await (const batch of watch) {
      const end = batch.findIndex((event) => event.type === 'BOOKMARK');
      const initial = end < 0 ? batch : batch.slice(0, end);
      await this.#turns.each(initial, (event) => this.#fill(draft, event), signal);
      const bookmark = batch[end];
      if (bookmark?.type !== 'BOOKMARK') continue;
      // A kube-apiserver sends no other bookmark before the marked one, so this server does not
      // stream lists.
      if (!bookmark.initialEventsEnd) return { kind: 'unmarked' };
      await this.#replace(draft, { resourceVersion: bookmark.resourceVersion, relist: 'streaming' }, signal);
      return await this.#follow(watch, 'streaming', signal, batch.slice(end + 1));
    }
    return { kind: 'closed', settled: false };
  }

  async #page(signal: AbortSignal): Promise<Watching> {
    const draft = this.#deps.partition.draft();
    let token: string | undefined;
    let limit = FIRST_PAGE_LIMIT;
    for (;;) {
      const options = { limit, ...(token === undefined ? {} : { continue: token }) };
      const page = await this.#deps.listWatch.list(options, signal);
      await this.#turns.each(page.items, (object) => draft.set(this.#convert(object)), signal);
      token = page.continue;
      limit = nextPageLimit(page.items.length, page.bytes);
      if (token === undefined || token === '') {
        const { resourceVersion } = page;
        return await this.#replace(draft, { resourceVersion, relist: 'paging' }, signal);
      }
    }
  }

  /**
   * Lists one object, to compare resourceVersions before a watch is resumed. The watch itself would
   * not tell: asked for a version that it has not reached, a kube-apiserver sends nothing up to it,
   * not even bookmarks (`cacheWatcher.process` in k8s.io/apiserver, pkg/storage/cacher), so changes
   * would be lost silently.
   */
  async #checkHistory({ resourceVersion }: Watching, signal: AbortSignal): Promise<void> {
    const page = await this.#deps.listWatch.list({ limit: 1 }, signal);
    requireNotOlder(page.resourceVersion, resourceVersion);
  }

  async #watch(state: Watching, signal: AbortSignal): Promise<Ending> {
    const options = { resourceVersion: state.resourceVersion, sendInitialEvents: false };
    return await this.#follow(this.#open(options, signal), state.relist, signal);
  }

  /** Applies what a watch brings, `first` before the rest, until the server closes it. */
  async #follow(
    watch: AsyncIterable<readonly WatchEvent<T>[]>,
    relist: Watching['relist'],
    signal: AbortSignal,
    first?: readonly WatchEvent<T>[],
  ): Promise<Ending> {
    const apply = (event: WatchEvent<T>) => {
      const resourceVersion = versionOf(event);
      requireNotOlder(resourceVersion, this.#state.resourceVersion);
      this.#apply(event);
      this.#state = { name: 'watching', resourceVersion, relist };
    };
    const receive = async (batch: readonly WatchEvent<T>[]) => {
      this.#health.watchHeard();
      await this.#turns.each(batch, apply, signal);
    };
    this.#health.watchOpened();
    let settled = false;
    try {
      if (first !== undefined) await receive(first);
      for await (const batch of watch) await receive(batch);
    } finally {
      settled = this.#health.watchClosed();
    }
    return { kind: 'closed', settled };
  }

  #open(
    options: { readonly resourceVersion?: string; readonly sendInitialEvents: boolean },
    signal: AbortSignal,
  ): AsyncIterable<readonly WatchEvent<T>[]> {
    const { clock, random, listWatch } = this.#deps;
    const { least, most } = WATCH_SECONDS;
    const timeoutSeconds = least + Math.floor(random() * (most - least + 1));
    const silenceMs = () => (this.#state.name === 'watching' ? WATCHING_SILENCE_MS : STREAMING_SILENCE_MS);
    return guardedWatch(listWatch, { ...options, timeoutSeconds }, { clock, silenceMs, signal });
  }

  /**
   * Puts a complete list in place of what the store held, and calls the handlers for the
   * difference.
   */
  async #replace(
    draft: IndexedMap<S>,
    version: Pick<Watching, 'resourceVersion' | 'relist'>,
    signal: AbortSignal,
  ): Promise<Watching> {
    const { partition, handlers, log } = this.#deps;
    const { resourceVersion: before } = this.#state;
    requireNotOlder(version.resourceVersion, before);
    const old = partition.items;
    partition.items = draft;
    if (this.#listed && before === undefined) handlers.historyRestarted();
    await this.#turns.each(
      draft.values(),
      (item) => handlers.changed(old.get(item.key), item, false),
      signal,
    );
    const deleteIfGone = (item: S) => {
      if (draft.get(item.key) === undefined) handlers.changed(item, undefined, true);
    };
    await this.#turns.each(old.values(), deleteIfGone, signal);
    // For later lists the log already has the reason, and will have `resolved`.
    const level = this.#listed ? 'debug' : 'info';
    log[level]({ objects: draft.size, by: version.relist }, 'listed');
    this.#listed = true;
    this.#onListed();
    const state = { name: 'watching', ...version } as const;
    this.#state = state;
    return state;
  }

  #fill(draft: IndexedMap<S>, event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return;
    if (event.type === 'DELETED') draft.delete(keyOf(event.object));
    else draft.set(this.#convert(event.object));
  }

  #apply(event: WatchEvent<T>): void {
    if (event.type === 'BOOKMARK') return;
    const { partition, handlers } = this.#deps;
    if (event.type === 'DELETED') {
      handlers.changed(partition.items.delete(keyOf(event.object)), undefined, false);
    } else {
      const item = this.#convert(event.object);
      handlers.changed(partition.items.set(item), item, false);
    }
  }

  /**
   * What the store keeps of an object: the same item as before if the version is the same in the
   * same history.
   */
  #convert(object: T): S {
    const { partition, transform } = this.#deps;
    const { uid, resourceVersion } = object.metadata;
    const before = this.#state.resourceVersion === undefined ? undefined : partition.items.get(keyOf(object));
    if (before?.uid === uid && before.resourceVersion === resourceVersion) return before;
    return deepFreeze(transform(object));
  }

  #logRecovery(from: ReflectorState, to: ReflectorState, ending: Ending): void {
    const { log } = this.#deps;
    if (from.name === 'streaming' && to.name === 'paging') {
      log.info({ ending: ending.kind }, 'the server does not stream lists; listing in pages from now on');
    } else {
      log.debug({ ending: ending.kind, from: from.name, to: to.name }, 'reconnecting');
    }
  }
}

/** Throws `HistoryRestartedError` if the server sent `resourceVersion` after a newer one. */
function requireNotOlder(resourceVersion: string, before: string | undefined): void {
  if (before !== undefined && isOlder(resourceVersion, before)) {
    throw new HistoryRestartedError(resourceVersion, before);
  }
}

/** The resourceVersion up to which the store is complete once `event` is applied. */
function versionOf(event: WatchEvent<KubeObject>): string {
  return event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
}

function errorOf(ending: Ending): unknown {
  if (ending.kind === 'failed') return ending.error;
  return new NetworkError('the server closed the watch soon after it was opened', { code: 'CLOSED' });
}

function warningOf(error: unknown, during: ReflectorState): string {
  if (isHistoryRestart(error)) return "the API server's history started over; listing everything again";
  return during.name === 'watching' ? 'watch failed, retrying' : 'list failed, retrying';
}
