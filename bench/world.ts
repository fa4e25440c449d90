import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlaneAddress } from '../test/support/control-plane.ts';
import type { Load } from './load.ts';
import { Observer, type ObserverOptions } from './observer.ts';
import { cpuSeconds, findProcess } from './process-stats.ts';
import { type RunningController, type Subject, start } from './subject.ts';

/** Requests for ConfigMaps that the API server has answered, but for our load's writes: so the controller's. */
export interface Requests {
  readonly writes: number;
  readonly reads: number;
}

/** Processor seconds used so far. */
export interface Cpu {
  readonly controller: number;
  readonly apiServer: number;
}

/** Of a {@link World.lull}. */
export const LULL_SECONDS = 35;

/** What a scenario works with: a control plane with nothing in it, and one subject that is not running yet. */
export class World {
  readonly load: Load;
  /** Sizes for a look whether it works, not for figures. */
  readonly quick: boolean;
  /** For the names of namespaces: unique where scenarios share a control plane. */
  readonly prefix: string;
  readonly namespaces: string[] = [];
  readonly #address: ControlPlaneAddress;
  readonly #subject: Subject | undefined;
  readonly #opponent: Subject | undefined;
  readonly #folder: string;
  readonly #apiServerPid: number;
  #running: RunningController | undefined;
  #runningBeside: RunningController | undefined;

  constructor(options: {
    readonly address: ControlPlaneAddress;
    readonly load: Load;
    readonly subject: Subject | undefined;
    /** For {@link startBeside}. */
    readonly opponent: Subject | undefined;
    readonly quick: boolean;
    readonly prefix: string;
    /** For logs. */
    readonly folder: string;
  }) {
    this.#address = options.address;
    this.load = options.load;
    this.#subject = options.subject;
    this.#opponent = options.opponent;
    this.quick = options.quick;
    this.prefix = options.prefix;
    this.#folder = options.folder;
    this.#apiServerPid = findProcess(`--secure-port=${new URL(options.address.url).port}`);
  }

  /** The full size, or a tenth of it. */
  size(full: number): number {
    return this.quick ? Math.ceil(full / 10) : full;
  }

  async createNamespaces(names: readonly string[]): Promise<void> {
    this.namespaces.push(...names);
    await this.load.createNamespaces(names);
  }

  observe(options?: ObserverOptions): Promise<Observer> {
    return Observer.open(this.#address, this.load, options);
  }

  /** Starts the subject, with `flags` besides its own, and resolves when its caches are complete. */
  async start(...flags: string[]): Promise<RunningController> {
    if (this.#subject === undefined) throw new Error('this scenario has no controller');
    const { command, ...about } = this.#subject;
    const subject = { ...about, command: [...command, ...flags] as const };
    this.#running = await start(subject, this.#address.kubeconfigPath, this.#folder);
    return this.#running;
  }

  /** Starts the baseline in Go, besides the subject. */
  async startBeside(): Promise<RunningController> {
    if (this.#opponent === undefined) throw new Error('this scenario needs the subject go, too');
    this.#runningBeside = await start(this.#opponent, this.#address.kubeconfigPath, this.#folder);
    return this.#runningBeside;
  }

  async stop(): ReturnType<RunningController['stop']> {
    const both = [this.#running, this.#runningBeside];
    this.#running = undefined;
    this.#runningBeside = undefined;
    const [stopped = { loop: undefined }] = await Promise.all(both.map((running) => running?.stop()));
    return stopped;
  }

  cpu(): Cpu {
    return {
      controller: this.#running === undefined ? 0 : cpuSeconds(this.#running.pid),
      apiServer: cpuSeconds(this.#apiServerPid),
    };
  }

  /** Costs the API server some 50 ms: not to be called while anything is measured. */
  async requests(): Promise<Requests> {
    const { reads, writes } = requestCounts(await this.load.call('GET', '/metrics'));
    return { writes: writes - this.load.configMapWrites, reads };
  }

  /** Long enough for whatever was still to come. */
  async settle(): Promise<void> {
    await delay(this.quick ? 250 : 3000);
  }

  /** As long as nobody changes anything, mostly: for longer than many keep an idle connection. */
  async lull(): Promise<void> {
    await delay(this.quick ? 250 : LULL_SECONDS * 1000);
  }

  /** Until an idle process has given back what a burst made it take: V8 waits for eight quiet seconds, and may do so twice. */
  async rest(): Promise<void> {
    await delay(this.quick ? 250 : 25_000);
  }
}

/** https://kubernetes.io/docs/reference/instrumentation/metrics/: `apiserver_request_total`. */
function requestCounts(metrics: string): Requests {
  let reads = 0;
  let writes = 0;
  for (const [, labels = '', count] of metrics.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    if (!labels.includes('resource="configmaps"')) continue;
    const verb = /verb="(\w+)"/.exec(labels)?.[1] ?? '';
    if (['GET', 'LIST'].includes(verb)) reads += Number(count);
    if (['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE'].includes(verb)) writes += Number(count);
  }
  return { reads, writes };
}
