import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import type { Lease } from '../../src/kube/api/types.ts';
import { World } from '../controller/world.ts';
import { startServerProcess } from '../support/control-plane-process.ts';
import type { FaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { Replica } from './replica.ts';

/** Generous: only a failure waits so long. */
const DEADLINE_MS = 60_000;

/** The bundle of the program, for all tests of the file. */
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

export interface ReplicasOptions {
  /** Of {@link useBundle}. */
  readonly program: string;
  readonly world: World;
  readonly times: Times;
  /** Between the processes and the server; default none. */
  readonly proxy?: FaultProxy | undefined;
  /** Short name of the Lease's namespace; default `home`. */
  readonly leaseNamespace?: string;
  /** Further ones of `run`; default none. */
  readonly flags?: readonly string[];
}

export interface ReplicaOptions {
  /** How far (ms) its wall clock is ahead of everybody else's; default 0. */
  readonly skewMs?: number;
  /** Where it serves metrics and health; default nowhere. */
  readonly httpPort?: number;
}

/** Real processes, from the bundle, that share a Lease. */
export class Replicas implements AsyncDisposable {
  readonly world: World;
  readonly all: Replica[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'replicas-'));
  readonly #options: ReplicasOptions;
  #edits = 0;

  /** With a source, which {@link Replicas.expectMirroring} edits. */
  static async open(
    program: string,
    server: TestServer,
    times: Times,
    proxy?: FaultProxy,
  ): Promise<Replicas> {
    const world = await World.open(server);
    await world.createSource();
    return new Replicas({ program, world, times, proxy });
  }

  /** Disposes of `options.world`, too. */
  constructor(options: ReplicasOptions) {
    this.world = options.world;
    this.#options = options;
  }

  get leasePath(): string {
    const namespace = this.world.full(this.#options.leaseNamespace ?? 'home');
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
  start({ skewMs = 0, httpPort }: ReplicaOptions = {}): Replica {
    const { program, proxy } = this.#options;
    const name = `replica-${this.all.length + 1}`;
    const kubeconfig = join(this.#folder, `${name}.kubeconfig`);
    const administrator = proxy?.kubeconfig() ?? readFileSync(this.world.place.kubeconfigPath, 'utf8');
    writeFileSync(kubeconfig, kubeconfigAs(name, administrator));
    const logPath = join(this.#folder, `${name}.log`);
    const node = skewMs === 0 ? [] : [`--import=${skewedDate(skewMs)}`];
    const address = httpPort === undefined ? '' : `127.0.0.1:${httpPort}`;
    const flags = [`--kubeconfig=${kubeconfig}`, `--http-address=${address}`, ...this.#flags()];
    const args = [...node, program, 'run', ...flags];
    const replica = new Replica(name, startServerProcess(process.execPath, args, logPath), logPath);
    this.all.push(replica);
    return replica;
  }

  #flags(): readonly string[] {
    const { world, times, leaseNamespace = 'home', flags = [] } = this.#options;
    const [leaseDuration, renewDeadline, retryPeriod] = times;
    return [
      ...['--log-format=json', `--domain=${world.domain}`, `--allow-target-namespaces=${world.full('*')}`],
      ...['--leader-elect', `--leader-elect-lease-namespace=${world.full(leaseNamespace)}`],
      `--leader-elect-lease-duration=${leaseDuration}`,
      `--leader-elect-renew-deadline=${renewDeadline}`,
      `--leader-elect-retry-period=${retryPeriod}`,
      ...flags,
    ];
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
function kubeconfigAs(name: string, administrator: string): string {
  const [kubeconfig] = loadAll(administrator) as { users?: { user: object }[] }[];
  for (const entry of kubeconfig?.users ?? []) {
    entry.user = { ...entry.user, as: name, 'as-groups': ['system:masters'] };
  }
  return JSON.stringify(kubeconfig);
}

/** A module that sets a process's wall clock ahead. The monotonic clock and the timers stay. */
function skewedDate(ms: number): string {
  const module = `
    const RealDate = Date;
    const now = () => RealDate.now() + ${ms};
    globalThis.Date = class extends RealDate {
      constructor(...args) { super(...(args.length === 0 ? [now()] : args)); }
      static now() { return now(); }
    };`;
  return `data:text/javascript,${encodeURIComponent(module)}`;
}
