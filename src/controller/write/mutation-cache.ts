import { type Clock, every } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isOlder } from '../../kube/api/resource-version.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/** Time (ms) to wait for a write's own watch event. If none comes, the watch is broken. */
const TTL_MS = 30_000;

interface Mutation {
  /** The result of a create or a patch, or the object that was deleted. */
  readonly object: ObservedConfigMap;
  readonly deleted: boolean;
  readonly expiresAt: number;
}

/** At most one for each object: the write queue sees to that. */
interface WriteUnderWay {
  /** Uids of the objects at this key that the informer saw deleted since the write was sent. */
  readonly deletedUids: Set<string>;
  /** The latest version at this key that the informer saw since the write was sent. */
  seenVersion: string | undefined;
  /** Events that came before the reply, with what to do once it is known whose they are. */
  readonly held: { readonly event: WatchedChange; readonly act: (own: boolean) => void }[];
}

/** A change from the informer: the object as it is now, or its last state before its deletion. */
export interface WatchedChange {
  readonly item: ObservedConfigMap;
  readonly deleted: boolean;
}

/**
 * Remembers the results of our own writes until the informer has seen them. Without it a pass right
 * after a write would plan from the state before it, and send the write again to be answered 409.
 * The idea and the name are client-go's.
 */
export class MutationCache {
  readonly #clock: Clock;
  /** In the order in which they expire. */
  readonly #mutations = new Map<ObjectKey, Mutation>();
  /** Keys of the same objects, by the source that they refer to. */
  readonly #bySource = new Map<ObjectKey, Set<ObjectKey>>();
  readonly #underWay = new Map<ObjectKey, WriteUnderWay>();
  readonly #sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined;

  /** `sourceOf`: the source that a companion refers to. */
  constructor(clock: Clock, sourceOf: (companion: ObservedConfigMap) => ObjectKey | undefined) {
    this.#clock = clock;
    this.#sourceOf = sourceOf;
  }

  /**
   * Remembers what `write` makes of the object at `key`, and resolves to it. If the watch is faster
   * than the reply, nothing is remembered, since no further event would correct it.
   */
  async follow(key: ObjectKey, write: () => Promise<ObservedConfigMap>): Promise<ObservedConfigMap> {
    return this.#underWayDuring(key, async (underWay) => {
      const result = await write();
      const { deletedUids, seenVersion, held } = underWay;
      const isSeen = seenVersion !== undefined && !isOlder(seenVersion, result.resourceVersion);
      if (!isSeen && !deletedUids.has(result.uid)) this.#remember(result, false);
      for (const { event, act } of held.splice(0)) act(isMadeBy({ object: result, deleted: false }, event));
      return result;
    });
  }

  /** Remembers that `write` has deleted `object`. */
  async followDelete(object: ObservedConfigMap, write: () => Promise<void>): Promise<void> {
    await this.#underWayDuring(object.key, async ({ deletedUids, held }) => {
      await write();
      if (!deletedUids.has(object.uid)) this.#remember(object, true);
      for (const { event, act } of held.splice(0)) act(isMadeBy({ object, deleted: true }, event));
    });
  }

  /**
   * To be called for each change from the informer. Calls `act` with whether we made the change.
   * While a write to the object is under way that is unknown, so `act` is called after its reply.
   */
  observe(event: WatchedChange, act: (own: boolean) => void): void {
    const mutation = this.#mutations.get(event.item.key);
    const isOwn = mutation !== undefined && isMadeBy(mutation, event);
    const underWay = this.#underWay.get(event.item.key);
    if (underWay === undefined || isOwn) {
      act(isOwn);
    } else {
      underWay.held.push({ event, act });
      if (event.deleted) underWay.deletedUids.add(event.item.uid);
      else underWay.seenVersion = event.item.resourceVersion;
    }
    this.#caughtUp(event);
  }

  /** The server contradicts what is remembered of this object. */
  forget(key: ObjectKey): void {
    const mutation = this.#mutations.get(key);
    if (mutation === undefined) return;
    this.#mutations.delete(key);
    const source = this.#sourceOf(mutation.object);
    const ofSource = source === undefined ? undefined : this.#bySource.get(source);
    if (source !== undefined && ofSource?.delete(key) && ofSource.size === 0) this.#bySource.delete(source);
  }

  /** The objects that we have written for a source and the informer has not seen yet. */
  writtenFor(source: ObjectKey): readonly ObservedConfigMap[] {
    const keys = this.#bySource.get(source);
    return keys === undefined ? [] : [...keys].flatMap((key) => this.newest(key, undefined) ?? []);
  }

  /** The newer of what the informer has and what we wrote. */
  newest(key: ObjectKey, cached: ObservedConfigMap | undefined): ObservedConfigMap | undefined {
    const mutation = this.#mutations.get(key);
    if (mutation === undefined || this.#clock.now() >= mutation.expiresAt) return cached;
    const { object, deleted } = mutation;
    if (cached === undefined) return deleted ? undefined : object;
    // Hide only the version that we deleted: a finalizer may hold a later one, or it is recreated.
    if (deleted) return isVersionOf(cached, object) ? undefined : cached;
    return isOlder(cached.resourceVersion, object.resourceVersion) ? object : cached;
  }

  /**
   * Until `signal` aborts, forgets writes that the informer never saw, and calls `onExpired` with
   * each. A write and its undoing may both fall into a gap of the watch; then no event comes.
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

  /** Forgets everything: the server's history has started over, and versions mean nothing. */
  clear(): void {
    for (const key of [...this.#mutations.keys()]) this.forget(key);
  }

  #caughtUp({ item, deleted }: WatchedChange): void {
    const mutation = this.#mutations.get(item.key);
    if (mutation === undefined) return;
    // The delete of an earlier object may arrive after we have created the next at its key.
    const isCaughtUp = deleted
      ? mutation.object.uid === item.uid
      : !isOlder(item.resourceVersion, mutation.object.resourceVersion) &&
        !(mutation.deleted && isVersionOf(item, mutation.object));
    if (isCaughtUp) this.forget(item.key);
  }

  async #underWayDuring<T>(key: ObjectKey, write: (underWay: WriteUnderWay) => Promise<T>): Promise<T> {
    const underWay: WriteUnderWay = { deletedUids: new Set(), seenVersion: undefined, held: [] };
    this.#underWay.set(key, underWay);
    try {
      return await write(underWay);
    } finally {
      this.#underWay.delete(key);
      // Events are left only if the write failed or its reply was lost. Treat them as not ours.
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

/** A version with other content than we wrote is not ours: a webhook has changed it (SPEC R13). */
function isMadeBy(
  { object, deleted }: Pick<Mutation, 'object' | 'deleted'>,
  { item, ...event }: WatchedChange,
): boolean {
  if (deleted || event.deleted) return deleted === event.deleted && item.uid === object.uid;
  return isVersionOf(item, object) && item.digest === object.digest;
}

function isVersionOf(a: ObservedConfigMap, b: ObservedConfigMap): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
