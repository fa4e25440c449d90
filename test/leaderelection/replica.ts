import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import type { Lease } from '../../src/kube/api/types.ts';
import { World } from '../controller/world.ts';
import { type ServerProcess, startServerProcess } from '../support/control-plane-process.ts';
import type { TestServer } from '../support/servers/server.ts';
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
    return this.count('became leader') > this.count('lost the lease') + this.count('released the lease');
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

  kill(): Promise<void> {
    return this.#process.kill();
  }
}

/** The bundle of the program, for the tests of the surrounding `describe` or file. */
export function useBundle(): () => string {
  const folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  const program = join(folder, 'mirror-controller.js');
  beforeAll(async () => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await bundle({ outfile: program });
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));
  return () => program;
}

/** Lease duration, renew deadline and retry period, as flags take them. */
export type Times = readonly [string, string, string];

/** Real processes, from the bundle, that mirror one source of a world and share a Lease. */
export class Replicas implements AsyncDisposable {
  readonly world: World;
  readonly all: Replica[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'replicas-'));
  readonly #program: string;
  readonly #flags: readonly string[];
  #edits = 0;

  /** `program`: of {@link useBundle}. */
  static async open(program: string, server: TestServer, times: Times): Promise<Replicas> {
    const replicas = new Replicas(program, await World.open(server), times);
    await replicas.world.createSource();
    return replicas;
  }

  private constructor(program: string, world: World, times: Times) {
    const [leaseDuration, renewDeadline, retryPeriod] = times;
    this.#program = program;
    this.world = world;
    this.#flags = [
      ...['--log-format=json', `--domain=${world.domain}`, `--allow-target-namespaces=${world.full('*')}`],
      ...['--leader-elect', `--leader-elect-lease-namespace=${world.full('home')}`],
      `--leader-elect-lease-duration=${leaseDuration}`,
      `--leader-elect-renew-deadline=${renewDeadline}`,
      `--leader-elect-retry-period=${retryPeriod}`,
    ];
  }

  get leasePath(): string {
    const namespace = this.world.full('home');
    return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/mirror-controller`;
  }

  lease(): Promise<Lease | undefined> {
    return this.world.person.get<Lease>(this.leasePath);
  }

  /** Proves that somebody mirrors: the source is edited, and its companion follows. */
  async expectMirroring(): Promise<void> {
    this.#edits += 1;
    await this.world.person.patch(this.world.full('home/colors'), { data: { sky: `edit ${this.#edits}` } });
    await this.world.companion('home/colors-synced', 'home/colors');
  }

  /** Starts one more, which the audit log knows by its own name. */
  start(): Replica {
    const name = `replica-${this.all.length + 1}`;
    const kubeconfig = join(this.#folder, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, kubeconfigAs(name, this.world.place.kubeconfigPath));
    const logPath = join(this.#folder, `${name}.log`);
    const address = '--http-address=';
    const args = [this.#program, 'run', `--kubeconfig=${kubeconfig}`, address, ...this.#flags];
    const replica = new Replica(name, startServerProcess(process.execPath, args, logPath), logPath);
    this.all.push(replica);
    return replica;
  }

  /** Starts a leader, and then standbys. */
  async startAll(count: 2 | 3): Promise<readonly [Replica, Replica, ...Replica[]]> {
    const leader = this.start();
    await leader.logged('became leader');
    const all = [leader, this.start(), ...(count === 3 ? [this.start()] : [])] as const;
    for (const replica of all) await replica.logged('caches synced');
    return all;
  }

  /** Waits until one of them leads, as far as they have logged. */
  leaderOf(replicas: readonly Replica[]): Promise<Replica> {
    return waitFor(() => replicas.find(({ isLeader }) => isLeader), {
      deadlineMs: DEADLINE_MS,
      describe: () => `a leader among ${replicas.map(({ name }) => name)}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.kill()));
    await this.world[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }
}

/** The administrator's kubeconfig, acting as somebody else with the same rights. */
function kubeconfigAs(name: string, path: string): string {
  const [kubeconfig] = loadAll(readFileSync(path, 'utf8')) as { users?: { user: object }[] }[];
  for (const entry of kubeconfig?.users ?? []) {
    entry.user = { ...entry.user, as: name, 'as-groups': ['system:masters'] };
  }
  return JSON.stringify(kubeconfig);
}
