import { type Clock, every } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isOlder } from '../../kube/api/resource-version.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/** Time (ms) within which a write's own watch event comes; after it the watch is broken, and a relist will correct us. */
const TTL_MS = 30_000;

interface Mutation {
  /** What a create or a patch left behind, or what a delete was sent for. */
  readonly object: ObservedConfigMap;
  readonly deleted: boolean;
  readonly expiresAt: number;
}

/** At most one for each object: the write queue sees to that. */
interface WriteUnderWay {
  /** Uids of the objects at this key that the informer has seen go since the write was sent. */
  readonly deletedUids: Set<string>;
  /** The latest version that the informer has seen at this key since the write was sent. */
  seenVersion: string | undefined;
  /** What to do about events that came before the reply and may be the write's own. */
  readonly held: { readonly event: WatchedChange; readonly act: (own: boolean) => void }[];
}

/** A change that the informer brings: the object as it is now, or as it was when it was deleted. */
export interface WatchedChange {
  readonly item: ObservedConfigMap;
  readonly deleted: boolean;
}

/**
 * Remembers what our own writes made of an object until the informer has seen it too (the idea and the name are
 * client-go's). Without it a reconcile right after a write would compute from the state before it, and send the same write
 * again to be answered 409.
 */
export class MutationCache {
  readonly #clock: Clock;
  /** In the order in which they expire. */
  readonly #mutations = new Map<ObjectKey, Mutation>();
  /** The same, by the source that they refer to. */
  readonly #bySource = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #underWay = new Map<ObjectKey, WriteUnderWay>();
  readonly #sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined;

  /** `sourceOf`: the source that a companion refers to. */
  constructor(clock: Clock, sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined) {
    this.#clock = clock;
    this.#sourceOf = sourceOf;
  }

  /**
   * Remembers what `write` makes of the object at `key`. The watch may be faster than the reply: what the informer has
   * already seen, or even seen deleted, is not remembered, since no further event would correct it. Resolves to the write's
   * result.
   */
  async follow(key: ObjectKey, write: () => Promise<ObservedConfigMap>): Promise<ObservedConfigMap> {
    return this.#underWayDuring(key, async (underWay) => {
      const result = await write();
      const { deletedUids, seenVersion, held } = underWay;
      const isSeen = seenVersion !== undefined && !isOlder(seenVersion, result.resourceVersion);
      if (!isSeen && !deletedUids.has(result.uid)) this.#remember(result, false);
      for (const { event, act } of held.splice(0)) act(!event.deleted && isVersionOf(event.item, result));
      return result;
    });
  }

  /** Remembers that `write` has deleted `object`. */
  async followDelete(object: ObservedConfigMap, write: () => Promise<void>): Promise<void> {
    await this.#underWayDuring(object.key, async ({ deletedUids, held }) => {
      await write();
      if (!deletedUids.has(object.uid)) this.#remember(object, true);
      for (const { event, act } of held.splice(0)) act(event.deleted && event.item.uid === object.uid);
    });
  }

  /**
   * To be called for each change that the informer brings. Calls `act` with whether the change is our own doing, so that
   * nobody need look into it. While a write to the object is under way that is not known (the watch is often faster than
   * the reply), so `act` is called after it. Then forgets what the informer has caught up with.
   */
  observe(event: WatchedChange, act: (own: boolean) => void): void {
    const underWay = this.#underWay.get(event.item.key);
    if (underWay === undefined) {
      act(this.#isOwn(event));
    } else {
      underWay.held.push({ event, act });
      if (event.deleted) underWay.deletedUids.add(event.item.uid);
      else underWay.seenVersion = event.item.resourceVersion;
    }
    this.#caughtUp(event);
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
   * Until `signal` aborts, forgets what the informer never came to see, and calls `onExpired` with it: the informer is
   * right then, and nothing else would lead to another look. (A write and its undoing may both fall into a gap of the
   * watch; then the relist shows neither.)
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

  /** Forgets everything: the server's history has started over, so the versions that we know mean nothing. */
  clear(): void {
    for (const key of [...this.#mutations.keys()]) this.forget(key);
  }

  #caughtUp({ item, deleted }: WatchedChange): void {
    const mutation = this.#mutations.get(item.key);
    if (mutation === undefined) return;
    // An earlier object of the name may be deleted after we have created the next.
    const isCaughtUp = deleted
      ? mutation.object.uid === item.uid
      : !isOlder(item.resourceVersion, mutation.object.resourceVersion) &&
        !(mutation.deleted && isVersionOf(item, mutation.object));
    if (isCaughtUp) this.forget(item.key);
  }

  #isOwn({ item, deleted }: WatchedChange): boolean {
    const mutation = this.#mutations.get(item.key);
    if (mutation?.deleted !== deleted) return false;
    return deleted ? mutation.object.uid === item.uid : isVersionOf(item, mutation.object);
  }

  async #underWayDuring<T>(key: ObjectKey, write: (underWay: WriteUnderWay) => Promise<T>): Promise<T> {
    const underWay: WriteUnderWay = { deletedUids: new Set(), seenVersion: undefined, held: [] };
    this.#underWay.set(key, underWay);
    try {
      return await write(underWay);
    } finally {
      this.#underWay.delete(key);
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
