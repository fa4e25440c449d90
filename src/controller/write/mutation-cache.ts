import { type Clock, every } from '../../clock/clock.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { isOlder } from '../../kube/api/resource-version.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/** Time (ms) to wait for a write's own watch event. If none comes, the watch is broken. */
const TTL_MS = 30_000;

/** An object as it is now, or its last state before its deletion. */
export interface Change {
  readonly object: ObservedConfigMap;
  readonly deleted: boolean;
}

/** What a write of ours has made. */
interface Mutation extends Change {
  readonly expiresAt: number;
}

/** An event that came before our write's reply, with what to do once it is known whose it is. */
interface HeldEvent {
  readonly event: Change;
  readonly act: (own: boolean) => void;
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
  /** For each write under way: at most one for each object, the write queue sees to that. */
  readonly #held = new Map<ObjectKey, HeldEvent[]>();
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
  follow(key: ObjectKey, write: () => Promise<ObservedConfigMap>): Promise<ObservedConfigMap> {
    return this.#follow(key, async () => ({ object: await write(), deleted: false }));
  }

  /** Remembers that `write` has deleted `object`. */
  async followDelete(object: ObservedConfigMap, write: () => Promise<void>): Promise<void> {
    await this.#follow(object.key, async () => {
      await write();
      return { object, deleted: true };
    });
  }

  /**
   * To be called for each change from the informer. Calls `act` with whether we made the change.
   * While a write to the object is under way that is unknown, so `act` is called after its reply.
   */
  observe(event: Change, act: (own: boolean) => void): void {
    const { key } = event.object;
    const mutation = this.#mutations.get(key);
    const isOwn = mutation !== undefined && isMadeBy(mutation, event);
    const held = this.#held.get(key);
    if (held === undefined || isOwn) act(isOwn);
    else held.push({ event, act });
    if (mutation !== undefined && hasCaughtUp(event, mutation)) this.forget(key);
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

  async #follow(key: ObjectKey, write: () => Promise<Change>): Promise<ObservedConfigMap> {
    const held: HeldEvent[] = [];
    this.#held.set(key, held);
    try {
      const made = await write();
      if (!held.some(({ event }) => hasCaughtUp(event, made))) this.#remember(made);
      for (const { event, act } of held.splice(0)) act(isMadeBy(made, event));
      return made.object;
    } finally {
      this.#held.delete(key);
      // Events are left only if the write failed or its reply was lost. Treat them as not ours.
      for (const { act } of held) act(false);
    }
  }

  #remember(made: Change): void {
    const { key } = made.object;
    this.forget(key);
    this.#mutations.set(key, { ...made, expiresAt: this.#clock.now() + TTL_MS });
    const source = this.#sourceOf(made.object);
    if (source === undefined) return;
    this.#bySource.set(source, (this.#bySource.get(source) ?? new Set()).add(key));
  }
}

/** Whether the event shows what our write has made, or something newer. */
function hasCaughtUp({ object, deleted }: Change, made: Change): boolean {
  // The delete of an earlier object may arrive after we have created the next at its key.
  if (deleted) return made.object.uid === object.uid;
  if (made.deleted && isVersionOf(object, made.object)) return false;
  return !isOlder(object.resourceVersion, made.object.resourceVersion);
}

/**
 * A version with other content than we wrote is not ours: a webhook has changed it (SPEC R13). Our
 * delete of an object that a finalizer holds only begins its deletion.
 */
function isMadeBy(made: Change, { object, deleted }: Change): boolean {
  if (made.deleted) return made.object.uid === object.uid && (deleted || object.deleting);
  return !deleted && isVersionOf(object, made.object) && object.digest === made.object.digest;
}

function isVersionOf(a: ObservedConfigMap, b: ObservedConfigMap): boolean {
  return a.uid === b.uid && a.resourceVersion === b.resourceVersion;
}
