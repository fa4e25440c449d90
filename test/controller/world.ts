import { expect } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { type Clock, systemClock } from '../../src/clock/clock.ts';
import type { ConfigMap, ObjectMeta } from '../../src/kube/api/types.ts';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { memoryIo } from '../cli/memory-io.ts';
import type { Place, TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectedCompanion, factsOf, type Wanted } from './expected-companion.ts';
import { Person, type WrittenConfigMap } from './person.ts';
import { type Flags, type RunningController, startController } from './running-controller.ts';

export interface SourceOptions {
  readonly name?: string;
  /** Short, see {@link World.full}; default `home`. */
  readonly in?: string;
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly immutable?: boolean;
  /** Of our domain, without it: `{ 'companion-name': '{name}-x' }`. */
  readonly asks?: StringMap;
  /** Beside `managed`. */
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}

export interface StartOptions {
  /** Default the real one. */
  readonly clock?: Clock;
  /** How the controller reaches the server, such as through a proxy or as somebody else. */
  readonly cluster?: Cluster;
}

/** A controller, or several, of which it can be found out whether there is anything left to do. */
export interface Settling {
  isSettled(): boolean | Promise<boolean>;
}

/** Generous: only a failure waits so long. */
const DEADLINE_MS = 60_000;

/** One test's own part of a server: its namespaces, its person, its controllers. */
export class World implements AsyncDisposable {
  readonly place: Place;
  readonly person: Person;
  readonly #controllers: RunningController[] = [];
  #barriers = 0;

  /** `namespaces`: short names of those to create, in addition to `home`. */
  static async open(server: TestServer, namespaces: readonly string[] = []): Promise<World> {
    const world = new World(await server.open());
    await Promise.all(['home', ...namespaces].map((name) => world.createNamespace(name)));
    return world;
  }

  private constructor(place: Place) {
    this.place = place;
    this.person = new Person(place.cluster);
  }

  get domain(): string {
    return this.place.domain;
  }

  /** The full name of a namespace, key `namespace/name` or pattern of this world. */
  full(short: string): string {
    return this.place.prefix + short;
  }

  /** Labels or annotations of our domain. */
  ours(entries: StringMap): StringMap {
    return Object.fromEntries(
      Object.entries(entries).map(([key, value]) => [`${this.domain}/${key}`, value]),
    );
  }

  async createNamespace(short: string, metadata: Partial<ObjectMeta> = {}): Promise<void> {
    await this.person.createNamespace(this.full(short), metadata);
  }

  /**
   * A controller whose companions stay in this world. `cluster`: by default as the place says.
   */
  start(flags: Flags = {}, options: StartOptions = {}): RunningController {
    const { controllerCluster = this.place.cluster } = this.place;
    const { clock = systemClock, cluster = controllerCluster } = options;
    const bounds = { 'allow-target-namespaces': `${this.place.prefix}*`, domain: this.domain };
    const controller = startController(cluster, { ...bounds, ...flags }, clock);
    this.#controllers.push(controller);
    return controller;
  }

  /** The command `run` with these flags, to its end. `log`: its JSON lines. */
  async run(...flags: readonly string[]): Promise<{ readonly code: number; readonly log: string }> {
    const io = memoryIo();
    const { kubeconfigPath } = this.place;
    const bounds = [`--allow-target-namespaces=${this.full('*')}`, `--domain=${this.domain}`];
    const code = await runProgram(
      ['run', `--kubeconfig=${kubeconfigPath}`, '--log-format=json', ...bounds, ...flags],
      io,
    );
    return { code, log: io.err() };
  }

  createSource(options: SourceOptions = {}): Promise<ConfigMap> {
    const { name = 'colors', in: namespace = 'home', data = { sky: 'blue' }, asks = {} } = options;
    const { binaryData, immutable } = options;
    const source: WrittenConfigMap = {
      metadata: {
        name,
        namespace: this.full(namespace),
        labels: { ...options.labels, ...this.ours({ managed: 'true' }) },
        annotations: { ...options.annotations, ...this.ours(asks) },
      },
      data,
      ...(binaryData !== undefined && { binaryData }),
      ...(immutable !== undefined && { immutable }),
    };
    return this.person.create(source);
  }

  /** `key` is short: `home/colors-synced`. */
  configMap(key: string): Promise<ConfigMap | undefined> {
    return this.person.configMap(this.full(key));
  }

  /** Changes annotations of our domain; null removes one. */
  async ask(key: string, asks: Readonly<Record<string, string | null>>): Promise<ConfigMap> {
    const annotations = Object.fromEntries(
      Object.entries(asks).map(([name, value]) => [`${this.domain}/${name}`, value]),
    );
    return this.person.patch(this.full(key), { metadata: { annotations } });
  }

  async unlabel(key: string): Promise<void> {
    await this.person.patch(this.full(key), { metadata: { labels: { [`${this.domain}/managed`]: null } } });
  }

  /** A ConfigMap that is known to exist. */
  async source(key: string): Promise<ConfigMap> {
    const source = await this.configMap(key);
    if (source === undefined) throw new Error(`there is no ${key}`);
    return source;
  }

  /** Waits until the object at `key` is exactly the companion that the source should have. */
  async companion(
    key: string,
    of: string | ConfigMap,
    wanted: Omit<Wanted, 'domain' | 'source' | 'key'> = {},
  ): Promise<ConfigMap> {
    return waitFor(
      async () => {
        const source = typeof of === 'string' ? await this.configMap(of) : of;
        const actual = await this.configMap(key);
        if (source === undefined || actual === undefined) return undefined;
        const expected = expectedCompanion({
          ...wanted,
          domain: this.domain,
          source,
          key: this.full(key),
        });
        expect(factsOf(actual)).toEqual(expected);
        return actual;
      },
      { deadlineMs: DEADLINE_MS, describe: () => `a right companion at ${key}; ${this.whatWasLogged()}` },
    );
  }

  async gone(key: string): Promise<void> {
    await waitFor(async () => (await this.configMap(key)) === undefined, {
      deadlineMs: DEADLINE_MS,
      describe: () => `${key} to be gone; ${this.whatWasLogged()}`,
    });
  }

  /** Short keys of every ConfigMap with a label or annotation of ours, without the barrier's. */
  async managed(...namespaces: readonly string[]): Promise<readonly string[]> {
    const all = await Promise.all(namespaces.map((short) => this.person.configMaps(this.full(short))));
    return all
      .flat()
      .filter(({ metadata }) => !metadata.name.startsWith(BARRIER) && metadata.name !== 'kube-root-ca.crt')
      .map(({ metadata }) => `${metadata.namespace?.slice(this.place.prefix.length)}/${metadata.name}`)
      .sort();
  }

  /**
   * Waits until the controller has seen all earlier changes of ConfigMaps and has acted on them. A
   * watch keeps the order, so a last source that is mirrored proves that it saw the earlier ones.
   * `namespaces`: also all earlier changes of Namespaces, which have a watch of their own.
   */
  async settle(controller: Settling, options: { readonly namespaces?: boolean } = {}): Promise<void> {
    this.#barriers += 1;
    const round = String(this.#barriers);
    if (options.namespaces) await this.#raiseNamespaceBarrier(round);
    await this.#raise(BARRIER, 'home', round, {});
    await waitFor(() => controller.isSettled(), {
      deadlineMs: DEADLINE_MS,
      describe: () => `the controller to settle; ${this.whatWasLogged()}`,
    });
  }

  async #raiseNamespaceBarrier(round: string): Promise<void> {
    const name = this.full(BARRIER);
    const labels = { [BARRIER]: `${this.place.prefix}${round}` };
    if ((await this.person.namespace(name)) === undefined)
      await this.person.createNamespace(name, { labels });
    else await this.person.patchNamespace(name, { metadata: { labels } });
    const selector = `${BARRIER}=${this.place.prefix}${round}`;
    await this.#raise(`${BARRIER}-namespace`, BARRIER, round, { 'target-namespace-selector': selector });
  }

  async #raise(name: string, companionIn: string, round: string, asks: StringMap): Promise<void> {
    const key = this.full(`home/${name}`);
    const annotations = this.ours(asks);
    if ((await this.person.configMap(key)) === undefined)
      await this.createSource({ name, asks, data: { round } });
    else await this.person.patch(key, { metadata: { annotations }, data: { round } });
    await waitFor(
      async () => (await this.configMap(`${companionIn}/${name}-synced`))?.data?.['round'] === round,
      {
        deadlineMs: DEADLINE_MS,
        describe: () => `the companion of ${name}, round ${round}; ${this.whatWasLogged()}`,
      },
    );
  }

  /** The end of the last controller's log: for the message of a failure. */
  whatWasLogged(): string {
    const controller = this.#controllers.at(-1);
    if (controller === undefined) return 'no controller of this process logged anything';
    const lines = controller.log.lines.slice(-20);
    return ['the controller logged last', ...lines.map((line) => JSON.stringify(line))].join('\n  ');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.person[Symbol.asyncDispose]();
    await this.place[Symbol.asyncDispose]();
  }
}

const BARRIER = 'barrier';
