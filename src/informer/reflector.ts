import { sleep } from '../clock/clock.ts';
import type { ListWatch, WatchEvent } from '../kube/api/list-watch.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { NetworkError } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ConnectionHealth } from './connection-health.ts';
import { guardedWatch } from './guarded-watch.ts';
import { requireNotOlder } from './history.ts';
import type { IndexedMap } from './indexed-map.ts';
import type { Stored } from './lister.ts';
import { FIRST_PAGE_LIMIT, nextPageLimit } from './page-limit.ts';
import { Partition, type PartitionDeps } from './partition.ts';
import { NotStreamedError, type RestartReason, reasonToRestart } from './restart-reason.ts';

/**
 * Range (s) of the random time after which the server ends a watch, so that many clients' watches
 * do not end together.
 */
const WATCH_SECONDS = { least: 300, most: 600 };

type Batches<T extends KubeObject> = AsyncIterable<readonly WatchEvent<T>[]>;

export interface ReflectorDeps<T extends KubeObject, S extends Stored, I extends string>
  extends PartitionDeps<T, S, I> {
  readonly listWatch: ListWatch<T>;
  /**
   * Called after each complete list, once the handlers have been called for it, and after each
   * failure.
   */
  readonly onOutcome: () => void;
  /** Called whenever a list or watch has ended, for whatever reason. */
  readonly onRestart: (reason: RestartReason) => void;
  readonly random: () => number;
  readonly log: Logger;
}

/** Keeps one partition of a store equal to what the server has. */
export class Reflector<T extends KubeObject, S extends Stored, I extends string> {
  readonly partition: Partition<T, S, I>;
  readonly health: ConnectionHealth;
  readonly #deps: ReflectorDeps<T, S, I>;
  /** Lists are paged once the server has shown that it does not stream them. */
  #streams = true;
  /** Whether to list before the next watch. */
  #mustList = true;

  constructor(deps: ReflectorDeps<T, S, I>) {
    this.#deps = deps;
    this.partition = new Partition(deps);
    this.health = new ConnectionHealth(deps);
  }

  /**
   * Lists and watches until `signal` aborts, whatever goes wrong. Resolves when everything has
   * stopped; never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onRestart } = this.#deps;
    while (!signal.aborted) {
      try {
        this.health.begun();
        await this.#listAndWatch(signal);
        onRestart('ended');
      } catch (error) {
        if (signal.aborted) return;
        const reason = reasonToRestart(error);
        onRestart(reason);
        const delayMs = this.#recover(error, reason);
        this.#deps.onOutcome();
        if (delayMs > 0) await sleep(clock, delayMs, signal);
      }
    }
  }

  /** Decides how to go on after a failure, and returns how long (ms) to wait before that. */
  #recover(error: unknown, reason: RestartReason): number {
    const { log } = this.#deps;
    if (reason === 'history') {
      this.partition.resourceVersion = undefined;
      this.#mustList = true;
      const message = "the API server's history started over; listing everything again";
      return this.health.failed(error, message);
    }
    if (reason === 'silent' && !this.#mustList) {
      log.debug({ ending: 'silent' }, 'reconnecting');
      return 0;
    }
    if (this.#mustList && this.#streams && (reason === 'refused' || reason === 'silent')) {
      this.#streams = false;
      log.info({}, 'the server does not stream lists; listing in pages from now on');
      return 0;
    }
    const message = this.#mustList ? 'list failed, retrying' : 'watch failed, retrying';
    // The resourceVersion is too old, or means nothing to the server.
    if (reason === 'expired' || reason === 'refused') this.#mustList = true;
    return this.health.failed(error, message);
  }

  /** Lists if needed, then follows the changes. Resolves if the watch ends in good order. */
  async #listAndWatch(signal: AbortSignal): Promise<void> {
    if (this.#mustList && this.#streams) return await this.#streamAndFollow(signal);
    if (this.#mustList) await this.#page(signal);
    else await this.#checkHistory(signal);
    await this.#follow(this.#open(this.partition.resourceVersion, signal), signal);
  }

  /**
   * Receives all objects as the first events of a watch (KEP-3157) into a draft of the store. The
   * draft is complete only with the bookmark that ends it, so a failure discards it.
   */
  async #streamAndFollow(signal: AbortSignal): Promise<void> {
    const draft = this.partition.draft();
    const watch = this.#open(undefined, signal);
    for await (const batch of watch) {
      this.health.heard();
      const end = batch.findIndex((event) => event.type === 'BOOKMARK');
      const initial = end < 0 ? batch : batch.slice(0, end);
      await this.partition.fill(draft, initial, signal);
      const bookmark = batch[end];
      if (bookmark?.type !== 'BOOKMARK') continue;
      // A kube-apiserver sends no other bookmark before the marked one.
      if (!bookmark.initialEventsEnd) break;
      await this.#replace(draft, bookmark.resourceVersion, signal);
      return await this.#follow(watch, signal, batch.slice(end + 1));
    }
    throw new NotStreamedError();
  }

  /** Lists page by page into a draft of the store. A failure, a 410 included, discards it. */
  async #page(signal: AbortSignal): Promise<void> {
    const draft = this.partition.draft();
    let token: string | undefined;
    let limit = FIRST_PAGE_LIMIT;
    for (;;) {
      const options = { limit, ...(token !== undefined && { continue: token }) };
      const page = await this.#deps.listWatch.list(options, signal);
      this.health.heard();
      const events = page.items.map((object) => ({ type: 'ADDED' as const, object }));
      await this.partition.fill(draft, events, signal);
      if (!page.continue) return await this.#replace(draft, page.resourceVersion, signal);
      token = page.continue;
      limit = nextPageLimit(page.items.length, page.bytes);
    }
  }

  /**
   * Lists one object, to compare resourceVersions before a watch is resumed. The watch itself would
   * not tell: asked for a version that it has not reached, a kube-apiserver sends nothing up to it,
   * not even bookmarks (`cacheWatcher.process` in k8s.io/apiserver, pkg/storage/cacher). Changes
   * would be lost silently.
   */
  async #checkHistory(signal: AbortSignal): Promise<void> {
    const page = await this.#deps.listWatch.list({ limit: 1 }, signal);
    this.health.heard();
    requireNotOlder(page.resourceVersion, this.partition.resourceVersion);
  }

  /** Applies what a watch brings, `first` before the rest, until the server closes it. */
  async #follow(watch: Batches<T>, signal: AbortSignal, first?: readonly WatchEvent<T>[]): Promise<void> {
    const receive = async (batch: readonly WatchEvent<T>[]) => {
      this.health.watchHeard();
      await this.partition.apply(batch, signal);
    };
    this.health.watchOpened();
    let isSettled = false;
    try {
      if (first !== undefined) await receive(first);
      for await (const batch of watch) await receive(batch);
    } finally {
      isSettled = this.health.watchClosed();
    }
    if (!isSettled) {
      throw new NetworkError('the server closed the watch soon after it was opened', { code: 'CLOSED' });
    }
  }

  /** Opens a watch of what comes after `resourceVersion`; undefined: of all objects first. */
  #open(resourceVersion: string | undefined, signal: AbortSignal): Batches<T> {
    const { clock, random, listWatch } = this.#deps;
    const { least, most } = WATCH_SECONDS;
    const timeoutSeconds = least + Math.floor(random() * (most - least + 1));
    const sendInitialEvents = resourceVersion === undefined;
    return guardedWatch(listWatch, { resourceVersion, sendInitialEvents, timeoutSeconds }, { clock, signal });
  }

  async #replace(draft: IndexedMap<S, I>, resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { onOutcome, log } = this.#deps;
    // For later lists the log already has the reason, and will have `resolved`.
    const level = this.partition.hasListed ? 'debug' : 'info';
    await this.partition.replace(draft, resourceVersion, signal);
    log[level]({ objects: draft.size, by: this.#streams ? 'streaming' : 'paging' }, 'listed');
    this.#mustList = false;
    onOutcome();
  }
}
