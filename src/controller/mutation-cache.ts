import { type Clock, every } from '../clock/clock.ts';
import type { Handler } from '../informer/handler.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';

/** A write's own watch event comes within moments; later than this, the watch is broken and a relist will tell. */
const TTL_MS = 30_000;

interface Mutation {
  /** What a create or an update left behind, or what a delete was sent for. */
  readonly object: ObservedConfigMap;
  readonly deleted: boolean;
  readonly expiresAt: number;
}

interface WriteUnderWay {
  readonly key: ObjectKey;
  /** Of the objects at this key that the informer has seen go since the write left. */
  readonly deletedUids: Set<string>;
  /** The latest that the informer has seen at this key since the write left. */
  seenVersion: string | undefined;
  /** What is to be done about events that came before the reply, and may be the write's own. */
  readonly held: { readonly event: WatchedChange; readonly act: (own: boolean) => void }[];
}

/** A change that the informer brings: the object as it is now, or as it was when it went. */
export interface WatchedChange {
  readonly item: ObservedConfigMap;
  readonly deleted: boolean;
}

/**
 * Remembers what our own writes made of an object until the informer has seen it too (the idea and the name are
 * client-go's). Without it a reconcile right after a write would compute from the state before it, and send the
 * same write again to be told 409.
 */
export class MutationCache {
  readonly #clock: Clock;
  /** In the order in which they expire. */
  readonly #mutations = new Map<ObjectKey, Mutation>();
  /** The same, by the source that they refer to. */
  readonly #bySource = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #underWay = new Set<WriteUnderWay>();
  readonly #sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined;

  /** `sourceOf`: the source that a companion refers to. */
  constructor(clock: Clock, sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined) {
    this.#clock = clock;
    this.#sourceOf = sourceOf;
  }

  wrote(result: ObservedConfigMap): void {
    this.#remember(result, false);
  }

  /**
   * Remembers what `write` makes of the object at `key`. The watch may be faster than the reply: what the informer has
   * seen by then, or has even seen to go, is not remembered, since no further event would ever correct that. Resolves to
   * the write's result.
   */
  async follow(key: ObjectKey, write: () => Promise<ObservedConfigMap>): Promise<ObservedConfigMap> {
    return this.#underWayDuring(key, async (underWay) => {
      const result = await write();
      const { deletedUids, seenVersion, held } = underWay;
      const isSeen = seenVersion !== undefined && !isOlder(seenVersion, result.resourceVersion);
      if (!isSeen && !deletedUids.has(result.uid)) this.wrote(result);
      for (const { event, act } of held.splice(0)) act(!event.deleted && isVersionOf(event.item, result));
      return result;
    });
  }

  /** Remembers that `write` has deleted `object`. */
  async followDelete(object: ObservedConfigMap, write: () => Promise<void>): Promise<void> {
    await this.#underWayDuring(object.key, async ({ deletedUids, held }) => {
      await write();
      if (!deletedUids.has(object.uid)) this.deleted(object);
      for (const { event, act } of held.splice(0)) act(event.deleted && event.item.uid === object.uid);
    });
  }

  /**
   * Calls `act`, and tells it whether the change is our own doing, so that nobody need look into it. While a write to the
   * object is under way that cannot be known (the watch is often faster than the reply), so `act` is called after it.
   */
  attribute(event: WatchedChange, act: (own: boolean) => void): void {
    for (const write of this.#underWay) {
      if (write.key !== event.item.key) continue;
      write.held.push({ event, act });
      return;
    }
    act(this.#isOwn(event));
  }

  deleted(object: ObservedConfigMap): void {
    this.#remember(object, true);
  }

  /** The server says that what we know of this object is wrong. */
  forget(key: ObjectKey): void {
    const mutation = this.#mutations.get(key);
    if (mutation === undefined) return;
    this.#mutations.delete(key);
    const source = this.#sourceOf(mutation.object);
    const ofSource = source === undefined ? undefined : this.#bySource.get(source);
    if (source !== undefined && ofSource?.delete(key) && ofSource.size === 0) this.#bySource.delete(source);
  }

  /** What we have written for a source and the informer has not shown yet, as we left it. */
  writtenFor(source: ObjectKey): readonly ObservedConfigMap[] {
    const keys = this.#bySource.get(source);
    return keys === undefined ? [] : [...keys].flatMap((key) => this.newest(key, undefined) ?? []);
  }

  /** The newer of what the informer has and what we know from our own writes. */
  newest(key: ObjectKey, cached: ObservedConfigMap | undefined): ObservedConfigMap | undefined {
    const mutation = this.#mutations.get(key);
    if (mutation === undefined || this.#clock.now() >= mutation.expiresAt) return cached;
    const { object, deleted } = mutation;
    if (cached === undefined) return deleted ? undefined : object;
    // Another object at the key, or a later state of the deleted one, which a finalizer holds, is not hidden.
    if (deleted) return isVersionOf(cached, object) ? undefined : cached;
    return isOlder(cached.resourceVersion, object.resourceVersion) ? object : cached;
  }

  /**
   * Until `signal` aborts, forgets what the informer never came to see, and tells `onExpired` of it: the informer is
   * right then, and nobody else would look again. (So it is when a write and its undoing both fall into a gap of the
   * watch, of which the relist shows neither.)
   */
  async run(signal: AbortSignal, onExpired: (object: ObservedConfigMap) => void): Promise<void> {
    await every(this.#clock, TTL_MS, signal, () => {
      const now = this.#clock.now();
      for (const [key, { object, expiresAt }] of this.#mutations) {
        if (expiresAt > now) break;
        this.forget(key);
        onExpired(object);
      }
    });
  }

  /** Forgets what the informer has caught up with. Must be the informer's last handler: others ask {@link attribute}. */
  handler(): Handler<ObservedConfigMap> {
    const seen = (item: ObservedConfigMap) => {
      for (const write of this.#underWay)
        if (write.key === item.key) write.seenVersion = item.resourceVersion;
      const mutation = this.#mutations.get(item.key);
      if (mutation === undefined || isOlder(item.resourceVersion, mutation.object.resourceVersion)) return;
      if (mutation.deleted && isVersionOf(item, mutation.object)) return;
      this.forget(item.key);
    };
    return {
      add: seen,
      update: (_old, item) => seen(item),
      delete: (item) => {
        // An earlier object of the name may go after we have made the next.
        if (this.#mutations.get(item.key)?.object.uid === item.uid) this.forget(item.key);
        for (const { key, deletedUids } of this.#underWay) if (key === item.key) deletedUids.add(item.uid);
      },
    };
  }

  #isOwn({ item, deleted }: WatchedChange): boolean {
    const mutation = this.#mutations.get(item.key);
    if (mutation?.deleted !== deleted) return false;
    return deleted ? mutation.object.uid === item.uid : isVersionOf(item, mutation.object);
  }

  async #underWayDuring<T>(key: ObjectKey, write: (underWay: WriteUnderWay) => Promise<T>): Promise<T> {
    const underWay: WriteUnderWay = { key, deletedUids: new Set(), seenVersion: undefined, held: [] };
    this.#underWay.add(underWay);
    try {
      return await write(underWay);
    } finally {
      this.#underWay.delete(underWay);
      // Left only by a write that failed, or whose reply was lost: then nothing is known to be ours.
      for (const { act } of underWay.held) act(false);
    }
  }

  #remember(object: ObservedConfigMap, deleted: boolean): void {
    this.forget(object.key);
    this.#mutations.set(object.key, { object, deleted, expiresAt: this.#clock.now() + TTL_MS });
    const source = this.#sourceOf(object);
    if (source === undefined) return;
    this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(object.key));
  }
}

function isVersionOf(a: ObservedConfigMap, b: ObservedConfigMap): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}

/**
 * resourceVersions are decimal numbers, and those of one kind can be compared: KEP-5504, and the API concepts page
 * since 1.35. The shorter number is the smaller; they have no leading zeros.
 */
export function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
