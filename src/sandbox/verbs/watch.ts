/**
 * One watch: the initial state if requested, then every change, read from the collection's log as
 * fast as the client reads. A client that falls behind the log gets a 410 and must list again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import { expired, type Status, StatusError } from '../objects/status.ts';
import type { Change } from '../storage/event-log.ts';
import type { Collection, ObjectStore } from '../storage/object-store.ts';
import type { ListOptions, Selection } from './list-options.ts';
import { parseReadRevision, tooLargeRevision } from './revisions.ts';
import { Wakeup } from './wakeup.ts';

/** The open answer to a watch. */
export interface WatchStream {
  /** Resolves when more can be written: at once while the client keeps up. */
  write(text: string): Promise<void>;
  /** Aborts when the client leaves, the time is over or the server stops. */
  readonly signal: AbortSignal;
}

/** Renders the lines of one watch, in order. Objects are in stored form. */
export interface WatchLines {
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): string;
  bookmark(revision: number, endOfInitialEvents: boolean): string;
  error(status: Status): string;
}

export interface WatchDeps {
  readonly store: ObjectStore;
  readonly collection: Collection;
  /** Time (ms) between bookmarks. */
  readonly bookmarkIntervalMs: number;
}

/** Length (characters) of the lines that are sent together. */
const BATCH = 256 * 1024;

interface Start {
  /** Sent first, as ADDED. */
  readonly initial: readonly KubeObject[];
  readonly position: number;
  readonly revision: number;
}

/**
 * Throws refusals before the answer begins. Reports a forgotten revision, or one from the future
 * with an initial state, in the stream.
 */
export async function serveWatch(
  deps: WatchDeps,
  lines: WatchLines,
  options: ListOptions,
  open: () => WatchStream,
): Promise<void> {
  const revision = options.resourceVersion === '' ? 0 : parseReadRevision(options.resourceVersion);
  const start = startOf(deps, options, revision);
  const watch = new Watch(deps, lines, options, open());
  if (start instanceof StatusError) await watch.end(start.status);
  else await watch.run(start);
}

/** Where the watch begins, or why it cannot. */
function startOf(
  { store, collection }: WatchDeps,
  options: ListOptions,
  revision: number,
): Start | StatusError {
  const { sendInitialEvents, selection } = options;
  const { end } = collection.log;
  if (sendInitialEvents) {
    if (revision > store.revision) return tooLargeRevision(revision, store);
    const initial = collection.list(selection.namespace).filter((object) => selection.matches(object));
    return { initial, position: end, revision: store.revision };
  }
  if (revision === 0) return { initial: [], position: end, revision: store.revision };
  const position = collection.log.positionAfter(revision);
  if (position !== undefined) return { initial: [], position, revision };
  return expired(`too old resource version: ${revision} (${store.revision})`);
}

class Watch {
  readonly #deps: WatchDeps;
  readonly #lines: WatchLines;
  readonly #options: ListOptions;
  readonly #stream: WatchStream;
  /**
   * Changes and bookmarks up to this revision are not sent: a watch may start from a future one.
   */
  #after = 0;
  #bookmarkDue = false;

  constructor(deps: WatchDeps, lines: WatchLines, options: ListOptions, stream: WatchStream) {
    this.#deps = deps;
    this.#lines = lines;
    this.#options = options;
    this.#stream = stream;
  }

  /** Resolves when the watch is over. */
  async run(start: Start): Promise<void> {
    this.#after = start.revision;
    const { log } = this.#deps.collection;
    const woken = new Wakeup(this.#stream.signal);
    const unsubscribe = log.onAppend(() => woken.wake());
    const timer = this.#options.allowWatchBookmarks
      ? setInterval(() => {
          this.#bookmarkDue = true;
          woken.wake();
        }, this.#deps.bookmarkIntervalMs)
      : undefined;
    try {
      await this.#sendInitial(start);
      await this.#follow(start.position, woken);
    } finally {
      unsubscribe();
      clearInterval(timer);
    }
  }

  async end(status: Status): Promise<void> {
    await this.#stream.write(this.#lines.error(status));
  }

  async #sendInitial({ initial, revision }: Start): Promise<void> {
    let batch = '';
    for (const object of initial) {
      batch += this.#lines.event('ADDED', object);
      if (batch.length < BATCH) continue;
      await this.#stream.write(batch);
      batch = '';
    }
    const { sendInitialEvents, allowWatchBookmarks } = this.#options;
    if (sendInitialEvents && allowWatchBookmarks) batch += this.#lines.bookmark(revision, true);
    if (batch !== '') await this.#stream.write(batch);
  }

  async #follow(from: number, woken: Wakeup): Promise<void> {
    const { log } = this.#deps.collection;
    let position = from;
    while (!this.#stream.signal.aborted) {
      if (log.hasDropped(position)) {
        await this.end(expired('too old resource version: the client fell behind').status);
        return;
      }
      const next = this.#batchFrom(position);
      position = next.position;
      if (next.batch !== '') await this.#stream.write(next.batch);
      else if (position === log.end) {
        await woken.wait();
        // Sends everything that this turn of the event loop writes together.
        await nextTurn();
      }
    }
  }

  /** The lines for the changes from a position on, up to one batch, and the position after them. */
  #batchFrom(from: number): { readonly batch: string; readonly position: number } {
    const { log } = this.#deps.collection;
    let batch = '';
    let position = from;
    for (; position < log.end && batch.length < BATCH; position++) {
      const change = log.at(position);
      if (change && change.revision > this.#after) batch += this.#lineFor(change);
    }
    if (this.#bookmarkDue && position === log.end) {
      this.#bookmarkDue = false;
      const { revision } = this.#deps.store;
      if (revision >= this.#after) batch += this.#lines.bookmark(revision, false);
    }
    return { batch, position };
  }

  /** An object that starts or stops matching the selection is added or deleted. */
  #lineFor({ previous, current, revision }: Change): string {
    const { selection } = this.#options;
    const was = previous !== undefined && matches(selection, previous);
    const is = current !== undefined && matches(selection, current);
    if (is) return this.#lines.event(was ? 'MODIFIED' : 'ADDED', current);
    if (!was) return '';
    // The last matching state, with the revision of the change.
    return this.#lines.event('DELETED', withMeta(previous, { resourceVersion: String(revision) }));
  }
}

const matches = (selection: Selection, object: KubeObject): boolean => selection.matches(object);
