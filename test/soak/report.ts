/** Most memory (MiB) and open files of a replica: some objects need far less, and a leak more. */
const MOST_MEMORY_MIB = 160;
const MOST_FILES = 80;

/** What a soak did, and what was not as it should be. */
export class Report {
  rounds = 0;
  /** How often a replica became leader. */
  terms = 0;
  /** How many processes were started. */
  replicas = 0;
  readonly #seed: number;
  readonly #counts = { actions: new Map<string, number>(), troubles: new Map<string, number>() };
  readonly #differences: string[] = [];
  #memoryMiB = 0;
  #files = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get differs(): boolean {
    return this.#differences.length > 0;
  }

  differ(difference: string): void {
    this.#differences.push(difference);
  }

  count(what: 'actions' | 'troubles', name: string): void {
    this.#counts[what].set(name, (this.#counts[what].get(name) ?? 0) + 1);
  }

  /** Of one replica, when all is settled. */
  resources(memoryBytes: number, files: number): void {
    const memoryMiB = Math.round(memoryBytes / 2 ** 20);
    this.#memoryMiB = Math.max(this.#memoryMiB, memoryMiB);
    this.#files = Math.max(this.#files, files);
    if (memoryMiB > MOST_MEMORY_MIB) this.differ(`a replica takes ${memoryMiB} MiB`);
    if (files > MOST_FILES) this.differ(`a replica has ${files} open files`);
  }

  toString(): string {
    const counted = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
    return [
      `seed ${this.#seed}, ${this.rounds} rounds`,
      `actions: ${counted(this.#counts.actions)}`,
      `troubles: ${counted(this.#counts.troubles)}`,
      `${this.replicas} processes, ${this.terms} terms of leadership`,
      `at most ${this.#memoryMiB} MiB and ${this.#files} open files when settled`,
      `${this.#differences.length} differences`,
      ...this.#differences,
    ].join('\n');
  }
}
