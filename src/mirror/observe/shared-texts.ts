import type { ObservedConfigMap } from './observed-config-map.ts';

/** Texts after which those before them are forgotten, unless they occur again. */
const GENERATION = 1000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Keeps equal texts of several ConfigMaps in memory once. A companion repeats its own key and
 * checksum, and its source's key, uid, name and checksum: without this, 100,000 sources with a
 * companion each take a quarter more memory (`npm run bench -- --scenario huge`).
 */
export class SharedTexts {
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  /**
   * Replaces texts in `object`, which must not be frozen yet, by equal ones, and returns it.
   * `source`: the one that it refers to, which may have come long before.
   */
  shareIn(object: Mutable<ObservedConfigMap>, source?: ObservedConfigMap): ObservedConfigMap {
    if (source !== undefined) {
      for (const text of [source.key, source.uid, source.name, source.digest]) this.#share(text);
    }
    // Nobody repeats the uid of a companion, nor any resourceVersion.
    if (object.request !== undefined) object.uid = this.#share(object.uid);
    object.key = this.#share(object.key);
    object.namespace = this.#share(object.namespace);
    object.name = this.#share(object.name);
    object.digest = this.#share(object.digest);
    for (const entries of [object.labels, object.annotations, ...object.ownerReferences]) {
      this.#shareEntries(entries);
    }
    return object;
  }

  #shareEntries(entries: object): void {
    for (const [name, text] of Object.entries(entries)) {
      if (typeof text === 'string') (entries as Record<string, unknown>)[name] = this.#share(text);
    }
  }

  #share<T extends string>(text: T): T {
    const young = this.#young.get(text);
    if (young !== undefined) return young as T;
    const shared = this.#old.get(text) ?? text;
    if (this.#young.size >= GENERATION) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(shared, shared);
    return shared as T;
  }
}
