import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlaneAddress } from '../../test/support/control-plane.ts';
import { type Asked, ask } from '../subjects/ask.ts';
import { type RunningController, type Stopped, start } from '../subjects/start.ts';
import type { Subject } from '../subjects/subjects.ts';
import type { Load } from './load.ts';
import { Observer, type ObserverOptions } from './observer.ts';
import { cpuSeconds, findProcess } from './process-stats.ts';

/** The controller's requests for ConfigMaps that the API server has answered. */
export interface Requests {
  readonly writes: number;
  readonly reads: number;
}

/** Processor time used so far (s). */
export interface Cpu {
  readonly controller: number;
  readonly apiServer: number;
}

/** What a scenario works with: an empty control plane, and one subject that is not running yet. */
export class Testbed {
  readonly load: Load;
  /** Whether sizes and waits are for a check that it works, not for figures. */
  readonly quick: boolean;
  /** For the names of namespaces: unique where scenarios share a control plane. */
  readonly prefix: string;
  readonly namespaces: string[] = [];
  readonly #address: ControlPlaneAddress;
  readonly #subject: Subject | undefined;
  /** For logs and files. */
  readonly folder: string;
  readonly #apiServerPid: number;
  #running: RunningController | undefined;

  constructor(options: {
    readonly address: ControlPlaneAddress;
    readonly load: Load;
    readonly subject: Subject | undefined;
    readonly quick: boolean;
    readonly prefix: string;
    readonly folder: string;
  }) {
    this.#address = options.address;
    this.load = options.load;
    this.#subject = options.subject;
    this.quick = options.quick;
    this.prefix = options.prefix;
    this.folder = options.folder;
    this.#apiServerPid = findProcess(`--secure-port=${new URL(options.address.url).port}`);
  }

  /** The full size, or a tenth of it when quick. */
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

  /** Starts the subject, with these flags too; resolves when its caches are complete. */
  async start(...flags: readonly string[]): Promise<RunningController> {
    if (this.#subject === undefined) throw new Error('this scenario has no controller');
    const [command, ...args] = this.#subject.command;
    const subject = { ...this.#subject, command: [command, ...args, ...flags] as const };
    this.#running = await start(subject, this.#address.kubeconfigPath, this.folder);
    return this.#running;
  }

  async stop(): Promise<Stopped> {
    const running = this.#running;
    this.#running = undefined;
    return (await running?.stop()) ?? { loop: undefined };
  }

  /** Runs another command of the subject. */
  ask(...args: readonly string[]): Promise<Asked> {
    if (this.#subject === undefined) throw new Error('this scenario has no program');
    return ask(this.#subject, args, this.#address.kubeconfigPath);
  }

  cpu(): Cpu {
    return {
      controller: this.#running === undefined ? 0 : cpuSeconds(this.#running.pid),
      apiServer: cpuSeconds(this.#apiServerPid),
    };
  }

  /** Costs the API server some 50 ms: do not call it while something is measured. */
  async requests(): Promise<Requests> {
    const { reads, writes } = requestCounts(await this.load.call('GET', '/metrics'));
    return { writes: writes - this.load.configMapWrites, reads };
  }

  /** Waits until the controller has finished whatever may follow the last companion. */
  settle(): Promise<void> {
    return this.#wait(3);
  }

  /** Waits until V8 has returned memory after a burst: after 8 quiet seconds, perhaps twice. */
  rest(): Promise<void> {
    return this.#wait(25);
  }

  /** Waits longer than many clients keep an idle connection. */
  lull(): Promise<void> {
    return this.#wait(35);
  }

  async #wait(seconds: number): Promise<void> {
    await delay(this.quick ? 250 : seconds * 1000);
  }
}

/** `apiserver_request_total`: https://kubernetes.io/docs/reference/instrumentation/metrics/ */
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
