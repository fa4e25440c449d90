import { expect } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { busiest, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { fastClock } from './fast-clock.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

/**
 * Most requests of a controller in trouble in any second of its own clock: retries of a few
 * companions and two watches. A loop without a wait makes hundreds.
 */
const MOST_REQUESTS_PER_SECOND = 15;

/** A world with a controller that reaches its server through a proxy, and that has settled. */
export class Trouble implements AsyncDisposable {
  readonly world: World;
  readonly proxy: FaultProxy;
  readonly controller: RunningController;
  /** Starts another {@link Trouble.controller}, after the first was stopped. */
  readonly startAnother: () => RunningController;
  readonly #speed: number;
  readonly #foreign: ConfigMap;

  /** `speed`: of the controller's clock. `prepare`: sets up faults before the start. */
  static async open(
    server: TestServer,
    options: { readonly speed?: number; readonly prepare?: (proxy: FaultProxy) => void } = {},
  ): Promise<Trouble> {
    const { speed = 10, prepare } = options;
    const world = await World.open(server, ['team-a', 'team-b', 'team-c']);
    const foreign = await world.person.create({
      metadata: { name: 'colors-synced', namespace: world.full('team-c') },
      data: { mine: 'yes' },
    });
    const upstream = world.place.access;
    const proxy = await startFaultProxy({ upstream, tls: upstream.url.startsWith('https:') });
    prepare?.(proxy);
    const tls = proxy.ca === undefined ? {} : { tls: { ca: { kind: 'inline', text: proxy.ca } as const } };
    const cluster = { server: proxy.url, ...tls };
    const start = () => world.start({}, { clock: fastClock(speed), cluster });
    const controller = start();
    const trouble = new Trouble(world, proxy, controller, start, speed, foreign);
    await trouble.createSource('colors');
    await trouble.createSource('doomed');
    await trouble.follows('colors', 'doomed');
    await world.settle(controller, { namespaces: true });
    return trouble;
  }

  private constructor(
    world: World,
    proxy: FaultProxy,
    controller: RunningController,
    start: () => RunningController,
    speed: number,
    foreign: ConfigMap,
  ) {
    this.world = world;
    this.proxy = proxy;
    this.controller = controller;
    this.startAnother = start;
    this.#speed = speed;
    this.#foreign = foreign;
  }

  async createSource(name: string): Promise<void> {
    await this.world.createSource({ name, asks: { 'target-namespaces': this.world.full('team-*') } });
  }

  /** Everything that can happen to a companion while the controller may not see it. */
  async happen(): Promise<void> {
    const { person } = this.world;
    await person.patch(this.world.full('home/colors'), { data: { sky: 'grey' } });
    await person.delete(this.world.full('team-a/colors-synced'));
    await person.patch(this.world.full('team-b/colors-synced'), { data: { more: 'tampered' } });
    await person.delete(this.world.full('home/doomed'));
    await this.createSource('late');
  }

  /** Waits for all that {@link Trouble.happen} asks for, and checks that others are unharmed. */
  async comesTrue(): Promise<void> {
    await this.follows('colors', 'late');
    for (const team of ['team-a', 'team-b', 'team-c']) await this.world.gone(`${team}/doomed-synced`);
    await this.world.settle(this.controller, { namespaces: true });
    expect(await this.world.configMap('team-c/colors-synced')).toEqual(this.#foreign);
    expect(await this.world.managed('home')).toEqual(['home/colors', 'home/late']);
    const { requests } = this.proxy;
    const most = MOST_REQUESTS_PER_SECOND * this.#speed;
    expect(busiest(requests)).toBeLessThanOrEqual(most);
  }

  async follows(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      for (const team of name === 'colors' ? ['team-a', 'team-b'] : ['team-a', 'team-b', 'team-c']) {
        await this.world.companion(`${team}/${name}-synced`, `home/${name}`);
      }
    }
  }

  /** Messages of `info` and above, each once. */
  told(): readonly string[] {
    return [...new Set(this.controller.log.told.map(({ message }) => message))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.controller.stop();
    await this.proxy.stop();
    await this.world[Symbol.asyncDispose]();
  }
}
