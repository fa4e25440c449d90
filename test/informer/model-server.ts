import type {
  ListOptions,
  ListPage,
  ListWatch,
  WatchEvent,
  WatchOptions,
} from '../../src/kube/api/list-watch.ts';
import { NetworkError } from '../../src/kube/errors.ts';
import {
  added,
  bookmark,
  deleted,
  expired,
  initialEventsEnd,
  modified,
  refused,
  type Widget,
  widget,
} from './widgets.ts';

/**
 * A server may send fewer than were asked for; this one does, so that few objects make several
 * pages.
 */
const PAGE_SIZE = 2;

/** What breaks every open connection; `closed` ends it in good order. */
export type Cut = Error | 'closed';

/**
 * The simplest server that keeps the rules of a Kubernetes watch: a state, a history that can be
 * compacted, and watches that follow the history. Everything else about it is faults.
 */
export class ModelServer implements ListWatch<Widget> {
  readonly state = new Map<string, Widget>();
  /**
   * `ignored`: as a server that does not know the parameter, it sends the objects and then just
   * watches.
   */
  streaming: 'yes' | 'refused' | 'ignored' = 'yes';
  duplicates = false;
  underWay = 0;
  readonly #history: { readonly version: number; readonly event: WatchEvent<Widget> }[] = [];
  readonly #failNext: Error[] = [];
  readonly #watches = new Set<OpenWatch>();
  #version = 10;
  #compactedTo = 0;
  #uids = 0;
  #backup: { readonly version: number; readonly state: ReadonlyMap<string, Widget> } = {
    version: this.#version,
    state: new Map(),
  };
  /** The history started over, and the client does not know how far it is. */
  #restored = false;

  write(name: string, colour: string): void {
    if (this.#restored) return;
    this.#version += 1;
    const known = this.state.get(name);
    const uid = known?.metadata.uid ?? `uid-${++this.#uids}`;
    const object = widget(name, this.#version, { uid, colour });
    this.state.set(name, object);
    this.#record(known === undefined ? added(object) : modified(object));
  }

  delete(name: string): void {
    const known = this.state.get(name);
    if (known === undefined || this.#restored) return;
    this.#version += 1;
    this.state.delete(name);
    this.#record(deleted(widget(name, this.#version, { uid: known.metadata.uid, colour: known.colour })));
  }

  backUp(): void {
    this.#backup = { version: this.#version, state: new Map(this.state) };
  }

  /**
   * Goes back to the backup. Nothing is written until the client knows: nobody can notice a history
   * that has got past the version at which the client stopped. Open watches stay open, as behind a
   * proxy, and bring nothing old.
   */
  restore(): void {
    this.#version = this.#backup.version;
    this.state.clear();
    for (const [name, object] of this.#backup.state) this.state.set(name, object);
    const kept = this.#history.filter(({ version }) => version <= this.#version);
    this.#history.splice(0, this.#history.length, ...kept);
    this.#compactedTo = Math.min(this.#compactedTo, this.#version);
    this.#restored = true;
  }

  compact(): void {
    this.#compactedTo = this.#version;
  }

  sendBookmarks(): void {
    for (const watch of this.#watches) watch.bookmarkDue = true;
    this.#wake();
  }

  cut(how: Cut): void {
    for (const watch of this.#watches) watch.cut ??= how;
    this.#wake();
  }

  silence(): void {
    for (const watch of this.#watches) watch.silent = true;
  }

  failNext(error: Error, count: number): void {
    for (let left = count; left > 0; left -= 1) this.#failNext.push(error);
  }

  /** From now on it does everything right; connections that are silent stay so. */
  behave(): void {
    this.#failNext.length = 0;
    this.duplicates = false;
  }

  async list({ limit, continue: token }: ListOptions): Promise<ListPage<Widget>> {
    this.#failIfDue();
    const [version = this.#version, from = 0] = token?.split('/').map(Number) ?? [];
    if (version < this.#compactedTo) throw expired;
    if (version !== this.#version) throw expired; // this server has no old states to page through
    const end = from + Math.min(limit, PAGE_SIZE);
    const items = [...this.state.values()].slice(from, end);
    const more = end < this.state.size;
    if (!more || limit === 1) this.#restored = false;
    return {
      items,
      resourceVersion: String(version),
      bytes: 100 * items.length,
      ...(more ? { continue: `${version}/${end}` } : {}),
    };
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly WatchEvent<Widget>[]> {
    this.#failIfDue();
    const streams = options.sendInitialEvents;
    if (streams && this.streaming === 'refused') throw refused;
    const sent = Number(options.resourceVersion ?? this.#version);
    if (sent < this.#compactedTo) throw expired;
    const watch: OpenWatch = {
      sent,
      unmarked: streams && this.streaming === 'yes',
      bookmarkDue: false,
      silent: false,
      wake: () => undefined,
    };
    signal.addEventListener('abort', () => watch.wake(), { once: true });
    this.#watches.add(watch);
    this.underWay += 1;
    try {
      if (streams) for (const object of [...this.state.values()]) yield [added(object)];
      yield* this.#follow(watch, signal);
    } finally {
      this.#watches.delete(watch);
      this.underWay -= 1;
    }
  }

  async *#follow(watch: OpenWatch, signal: AbortSignal): AsyncGenerator<readonly WatchEvent<Widget>[]> {
    while (watch.cut !== 'closed') {
      if (signal.aborted) throw new NetworkError('closed by the client', { code: 'ABORTED' });
      if (watch.cut !== undefined) throw watch.cut;
      const batch = watch.silent ? [] : this.#next(watch);
      if (batch.length > 0) {
        yield batch;
      } else {
        await new Promise<void>((resolve) => {
          watch.wake = resolve;
        });
      }
    }
  }

  /** What is new for `watch`; empty when there is nothing. */
  #next(watch: OpenWatch): WatchEvent<Widget>[] {
    // As a kube-apiserver does, asked for a version from its future.
    if (this.#version < watch.sent) return [];
    const batch = this.#since(watch.sent);
    watch.sent = this.#version;
    if (watch.unmarked) {
      batch.push(initialEventsEnd(watch.sent));
      this.#restored = false;
    } else if (watch.bookmarkDue) {
      batch.push(bookmark(watch.sent));
    }
    watch.unmarked = false;
    watch.bookmarkDue = false;
    return batch;
  }

  #since(version: number): WatchEvent<Widget>[] {
    const events = this.#history.filter((entry) => entry.version > version).map((entry) => entry.event);
    return this.duplicates ? events.flatMap((event) => [event, event]) : events;
  }

  #record(event: WatchEvent<Widget>): void {
    this.#history.push({ version: this.#version, event });
    this.#wake();
  }

  #wake(): void {
    for (const watch of this.#watches) watch.wake();
  }

  #failIfDue(): void {
    const error = this.#failNext.shift();
    if (error !== undefined) throw error;
  }
}

interface OpenWatch {
  /** The version up to which it has everything. */
  sent: number;
  /** The bookmark that ends the initial events is owed. */
  unmarked: boolean;
  bookmarkDue: boolean;
  silent: boolean;
  cut?: Cut;
  wake: () => void;
}
