import { type Clock, sleep } from '../clock/clock.ts';
import type { ListWatch, WatchEvent } from '../kube/api/list-watch.ts';
import { keyOf, type ObjectKey } from '../kube/api/object-key.ts';
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
import { type Ending, type ReflectorState, recover } from './reflector-state.ts';
import type { StoreWriter } from './store.ts';
import { TurnBudget } from './turn-budget.ts';

/** A server that streams the initial list keeps sending; one that ignored the request falls silent after the last object. */
const STREAMING_SILENCE_MS = 30_000;
/** A kube-apiserver sends a bookmark every 60 s. */
const WATCHING_SILENCE_MS = 90_000;
/** The server's own limit of a watch is random between these, so that the watches of many clients do not end together. */
const WATCH_SECONDS = { least: 300, most: 600 };

type Watching = Extract<ReflectorState, { name: 'watching' }>;

export interface ReflectorDeps<T extends KubeObject, S extends Stored> {
  readonly listWatch: ListWatch<T>;
  readonly writer: StoreWriter<S>;
  /** See `InformerOptions`. A list that it was called for may come to nothing. */
  readonly transform: (object: T, known: (key: ObjectKey) => S | undefined) => S;
  readonly handlers: HandlerSet<S>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** Keeps one partition of a store equal to what the server has, and tells the handlers what changed. */
export class Reflector<T extends KubeObject, S extends Stored> {
  readonly #deps: ReflectorDeps<T, S>;
  readonly #health: ConnectionHealth;
  readonly #turns: TurnBudget;
  readonly #onListed: () => void;
  #state: ReflectorState = { name: 'streaming' };
  #listed = false;

  /** `onListed` is called after each complete list, when the handlers have been told of it. */
  constructor(deps: ReflectorDeps<T, S>, onListed: () => void) {
    this.#deps = deps;
    this.#health = new ConnectionHealth(deps);
    this.#turns = new TurnBudget(deps.clock);
    this.#onListed = onListed;
  }

  /** Since the server last sent anything of use, milliseconds. */
  staleMs(): number {
    return this.#health.staleMs();
  }

  /** Attempts to list or watch that failed in a row. */
  failures(): number {
    return this.#health.failures;
  }

  /** Lists and watches until `signal` aborts, whatever goes wrong; resolves when all has stopped, never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const ending = await this.#untilItEnds(signal);
      if (signal.aborted) return;
      const during = this.#state;
      const { state, backoff } = recover(during, ending);
      this.#state = state;
      this.#logTurn(during, state, ending);
      if (backoff) await sleep(this.#deps.clock, this.#health.failed(errorOf(ending), during.name), signal);
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
          return await this.#watch(state, signal);
      }
    } catch (error) {
      return error instanceof SilentWatchError ? { kind: 'silent' } : { kind: 'failed', error };
    }
  }

  async #stream(signal: AbortSignal): Promise<Ending> {
    const draft = this.#deps.writer.draft();
    const watch = this.#open({ sendInitialEvents: true }, signal);
    for await (const batch of watch) {
      this.#health.heard();
      const end = batch.findIndex((event) => event.type === 'BOOKMARK');
      const initial = end < 0 ? batch : batch.slice(0, end);
      await this.#turns.each(initial, (event) => this.#fill(draft, event), signal);
      const bookmark = batch[end];
      if (bookmark?.type !== 'BOOKMARK') continue;
      // kube-apiserver holds every bookmark back until the one with the mark, so this one is not asked for.
      if (!bookmark.initialEventsEnd) return { kind: 'unmarked' };
      await this.#replace(draft, { resourceVersion: bookmark.resourceVersion, relist: 'streaming' }, signal);
      return await this.#follow(watch, 'streaming', signal, batch.slice(end + 1));
    }
    return { kind: 'closed', settled: false };
  }

  async #page(signal: AbortSignal): Promise<Watching> {
    const draft = this.#deps.writer.draft();
    let token: string | undefined;
    let limit = FIRST_PAGE_LIMIT;
    for (;;) {
      const options = { limit, ...(token === undefined ? {} : { continue: token }) };
      const page = await this.#deps.listWatch.list(options, signal);
      this.#health.heard();
      await this.#turns.each(page.items, (object) => draft.set(this.#convert(object, draft)), signal);
      token = page.continue;
      limit = nextPageLimit(page.items.length, page.bytes);
      if (token === undefined || token === '') {
        const { resourceVersion } = page;
        return await this.#replace(draft, { resourceVersion, relist: 'paging' }, signal);
      }
    }
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
    const receive = async (batch: readonly WatchEvent<T>[]) => {
      this.#health.watchHeard();
      const apply = (event: WatchEvent<T>) => {
        this.#state = { name: 'watching', resourceVersion: this.#apply(event), relist };
      };
      await this.#turns.each(batch, apply, signal);
    };
    this.#health.watchOpened();
    let settled = false;
    try {
      if (first !== undefined) await receive(first);
      for await (const batch of watch) await receive(batch);
      this.#health.heard();
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

  /** Puts a complete list in place of what the store held, and tells the handlers the difference. */
  async #replace(
    draft: IndexedMap<S>,
    version: Pick<Watching, 'resourceVersion' | 'relist'>,
    signal: AbortSignal,
  ): Promise<Watching> {
    const { writer, handlers, log } = this.#deps;
    const old = writer.swap(draft);
    await this.#turns.each(
      draft.values(),
      (item) => handlers.changed(old.get(item.key), item, false),
      signal,
    );
    const tellIfGone = (item: S) => {
      if (draft.get(item.key) === undefined) handlers.changed(item, undefined, true);
    };
    await this.#turns.each(old.values(), tellIfGone, signal);
    // A relist is no news by itself: why it was needed has been told, and so will be that all is well again.
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
    else draft.set(this.#convert(event.object, draft));
  }

  /** Returns the resourceVersion up to which the store is now complete. */
  #apply(event: WatchEvent<T>): string {
    if (event.type === 'BOOKMARK') return event.resourceVersion;
    const { writer, handlers } = this.#deps;
    if (event.type === 'DELETED') {
      handlers.changed(writer.delete(keyOf(event.object)), undefined, false);
    } else {
      const item = this.#convert(event.object);
      handlers.changed(writer.set(item), item, false);
    }
    return event.object.metadata.resourceVersion;
  }

  /** What the store keeps of an object: the same item as before when the version is the same. */
  #convert(object: T, draft?: IndexedMap<S>): S {
    const { writer, transform } = this.#deps;
    const { uid, resourceVersion } = object.metadata;
    const before = writer.get(keyOf(object));
    if (before?.uid === uid && before.resourceVersion === resourceVersion) return before;
    return deepFreeze(transform(object, (key) => draft?.get(key) ?? writer.get(key)));
  }

  #logTurn(from: ReflectorState, to: ReflectorState, ending: Ending): void {
    const { log } = this.#deps;
    if (from.name === 'streaming' && to.name === 'paging') {
      log.info({ ending: ending.kind }, 'the server does not stream lists, listing in pages from now on');
    } else {
      log.debug({ ending: ending.kind, from: from.name, to: to.name }, 'connecting again');
    }
  }
}

function errorOf(ending: Ending): unknown {
  if (ending.kind === 'failed') return ending.error;
  return new NetworkError('the server closed the watch soon after it was opened', { code: 'CLOSED' });
}
