/** A first-in, first-out queue of distinct keys. One in the middle can be taken. All is O(1). */
export class Fifo<K extends string> {
  readonly #keys = new Set<K>();
  /**
   * Stands before the oldest key: whatever it has passed was deleted. Kept between calls, because
   * V8 leaves a hole where a key was deleted and a new iterator walks over all holes: to drain
   * 100,000 keys took 1.1 s so.
   */
  #oldest = this.#keys.values();

  get size(): number {
    return this.#keys.size;
  }

  /** Puts `key` last; one that is already in stays where it is. */
  push(key: K): void {
    this.#keys.add(key);
  }

  /** Takes the oldest key; undefined when there is none. */
  shift(): K | undefined {
    if (this.#keys.size === 0) return undefined;
    const key = this.#oldest.next().value;
    if (key !== undefined) this.delete(key);
    return key;
  }

  delete(key: K): void {
    this.#keys.delete(key);
    // A standing iterator keeps every table alive that the set has outgrown since.
    if (this.#keys.size === 0) this.#oldest = this.#keys.values();
  }
}
