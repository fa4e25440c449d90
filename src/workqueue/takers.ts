/** Those who wait for items of a `WorkSource`. Who has waited longest gets the next one. */
export class Takers<T> {
  readonly #take: () => T | undefined;
  readonly #waiting: ((item: T | undefined) => void)[] = [];
  #isShutDown = false;

  /** `take`: takes an item; undefined: there is none now. */
  constructor(take: () => T | undefined) {
    this.#take = take;
  }

  get isShutDown(): boolean {
    return this.#isShutDown;
  }

  /** An item, as soon as there is one; undefined once shut down. */
  get(): Promise<T | undefined> {
    if (this.#isShutDown) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.serve();
    });
  }

  /** To be called whenever there may be an item. */
  serve(): void {
    while (this.#waiting.length > 0) {
      const item = this.#take();
      if (item === undefined) return;
      this.#waiting.shift()?.(item);
    }
  }

  /** From now on every `get`, waiting or to come, resolves to undefined. Idempotent. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }
}
