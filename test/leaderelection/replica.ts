import { readFileSync } from 'node:fs';
import type { ServerProcess } from '../support/control-plane-process.ts';
import { waitFor } from '../support/wait-for.ts';

/** Generous: only a failure waits so long. */
const DEADLINE_MS = 60_000;

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** One process of several that run the controller with `--leader-elect`. */
export class Replica {
  /** As whom it acts, for the audit log. */
  readonly name: string;
  readonly #process: ServerProcess;
  readonly #logPath: string;

  constructor(name: string, serverProcess: ServerProcess, logPath: string) {
    this.name = name;
    this.#process = serverProcess;
    this.#logPath = logPath;
  }

  get log(): readonly Line[] {
    const text = readFileSync(this.#logPath, 'utf8');
    return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));
  }

  count(message: string): number {
    return this.log.filter(({ msg }) => msg.startsWith(message)).length;
  }

  /** As far as it has logged. */
  get isLeader(): boolean {
    return this.count('became leader') > this.count('lost the Lease') + this.count('released the Lease');
  }

  async logged(message: string, times = 1): Promise<void> {
    await waitFor(() => this.count(message) >= times, {
      deadlineMs: DEADLINE_MS,
      describe: () => `${this.name} to log "${message}"; it logged ${this.#process.logTail()}`,
    });
  }

  signal(name: 'TERM' | 'KILL' | 'STOP' | 'CONT'): void {
    this.#process.signal(name);
  }

  /** Its exit code, when it has ended. */
  async ended(): Promise<number | undefined> {
    await this.#process.ended;
    return this.#process.exitCode();
  }

  get isRunning(): boolean {
    return this.#process.isRunning();
  }

  /** The last lines of its log. */
  logTail(): string {
    return this.#process.logTail();
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }
}
