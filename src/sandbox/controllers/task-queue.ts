/**
 * Keys to work on, each once and in a later turn of the event loop, since a real controller also
 * lags behind the write that it reacts to. The work is synchronous. None begins once `stop` has
 * aborted.
 */
export class TaskQueue {
  readonly #work: (key: string) => void;
  readonly #stop: AbortSignal;
  readonly #pending = new Set<string>();

  constructor(work: (key: string) => void, stop: AbortSignal) {
    this.#work = work;
    this.#stop = stop;
  }

  add(key: string): void {
    if (this.#pending.size === 0) setImmediate(() => this.#run());
    this.#pending.add(key);
  }

  #run(): void {
    const keys = [...this.#pending];
    this.#pending.clear();
    for (const key of keys) if (!this.#stop.aborted) this.#work(key);
  }
}
