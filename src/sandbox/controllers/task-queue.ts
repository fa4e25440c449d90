/**
 * Keys to work on, each once and in a later turn of the event loop, since a real controller also
 * lags behind the write that it reacts to. The work is synchronous.
 */
export class TaskQueue {
  readonly #work: (key: string) => void;
  readonly #pending = new Set<string>();
  #handle: NodeJS.Immediate | undefined;
  #stopped = false;

  constructor(work: (key: string) => void) {
    this.#work = work;
  }

  add(key: string): void {
    if (this.#stopped) return;
    this.#pending.add(key);
    this.#handle ??= setImmediate(() => this.#run());
  }

  stop(): void {
    this.#stopped = true;
    this.#pending.clear();
    clearImmediate(this.#handle);
  }

  #run(): void {
    this.#handle = undefined;
    const keys = [...this.#pending];
    this.#pending.clear();
    for (const key of keys) this.#work(key);
  }
}
