import { expect } from 'vitest';
import { ask } from '../inspect/ask.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { BRAKE_FLAGS, brakeHasHeld } from './brake-check.ts';
import type { Action, ContentHistory } from './content-history.ts';
import { ContentScene, type Seen } from './content-scene.ts';
import { fastClock, PausableClock } from './fast-clock.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

/** `settle` and `delete-after` take half a second. */
const CLOCK_SPEED = 50;
const DEADLINE_MS = 20_000;
const WRITES = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps\/?.*/ };

/**
 * Plays a history of one source under a brake. What is done while the controller is stopped meets
 * the next one all at once.
 */
export async function playContentHistory(
  server: TestServer,
  { templates, guards, actions }: ContentHistory,
): Promise<void> {
  await using world = await World.open(server, ['qa-a', 'team-a', 'team-b']);
  await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
  const scene = new ContentScene(world, templates);
  Object.assign(scene.model, guards);
  const player = new ContentPlayer(scene, proxy);
  await scene.begin();
  await player.settle();
  for (const each of actions) await player.act(each);
  await player.end();
}

/** A companion whose deletion somebody has released, and when (on `performance.now()`). */
interface Released {
  /** Part of the path of a request for it. */
  readonly path: string;
  readonly from: number;
  until: number;
}

class ContentPlayer {
  readonly #scene: ContentScene;
  readonly #proxy: FaultProxy;
  readonly #clock = new PausableClock(fastClock(CLOCK_SPEED));
  readonly #released: Released[] = [];
  #controller: RunningController | undefined;
  #requestsBefore = 0;

  constructor(scene: ContentScene, proxy: FaultProxy) {
    this.#scene = scene;
    this.#proxy = proxy;
  }

  async act(action: Action): Promise<void> {
    await this.#carryOut(action);
    const isRunning = this.#controller !== undefined || action.do === 'start';
    if (isRunning && action.do !== 'fault') await this.settle();
  }

  async settle(): Promise<void> {
    const { world, model } = this.#scene;
    if (this.#controller === undefined) {
      this.#requestsBefore = this.#proxy.requests.length;
      const cluster = { server: this.#proxy.url };
      this.#controller = world.start(BRAKE_FLAGS, { clock: this.#clock, cluster });
    }
    model.settle();
    await this.#matches();
    await world.settle(this.#controller, { namespaces: true });
    await this.#takeOver(await this.#matches());
    await this.#withdrawAllowance();
  }

  /** Nothing is left but what is wanted, once everything is released. */
  async end(): Promise<void> {
    await this.settle();
    const { model } = this.#scene;
    const isLeft = (name: string) => !model.isWanted(name);
    while (!model.isInvalid && [...model.companions.keys()].some(isLeft)) {
      await this.#release('command');
      await this.settle();
    }
    await this.#stop();
  }

  async #carryOut(action: Action): Promise<void> {
    switch (action.do) {
      case 'burst':
        return this.#burst(action.of);
      case 'release':
        return this.#release(action.by);
      case 'stop':
        return this.#stop();
      case 'start':
        return;
      case 'fault':
        this.#proxy.inject({ match: WRITES, fault: { kind: action.kind }, times: 1 });
        return;
      default:
        return this.#scene.change(action);
    }
  }

  async #stop(): Promise<void> {
    if (this.#controller === undefined) return;
    await this.#controller.stop();
    this.#controller = undefined;
    const isReleased = (request: FaultProxy['requests'][number]) =>
      this.#released.some(
        ({ path, from, until }) => request.path.includes(path) && from <= request.at && request.at <= until,
      );
    brakeHasHeld(this.#proxy.requests.slice(this.#requestsBefore), CLOCK_SPEED, isReleased);
  }

  /**
   * While time stands still, a source that settles is never quiet, so nobody gets what it says. A
   * content that has failed is different: canaries give up the one before at once.
   */
  async #burst(contents: readonly string[]): Promise<void> {
    const { world, model } = this.#scene;
    const { source, settles, isInvalid, kept } = model;
    const controller = this.#controller;
    const isQuiet = source === 'labelled' && settles && !isInvalid;
    if (controller === undefined || !isQuiet || contents.some((each) => kept.get(each) === 'failed')) {
      model.content = contents.at(-1) ?? '';
      return this.#scene.writeSource();
    }
    this.#proxy.heal();
    this.#clock.pause();
    for (const each of contents) {
      model.content = each;
      await this.#scene.writeSource();
    }
    await world.settle(controller);
    await this.#matches({ isBefore: true });
    this.#clock.resume();
  }

  async #release(by: 'command' | 'source' | 'namespace'): Promise<void> {
    if (by === 'command') return this.#releaseByCommand();
    const { world, model } = this.#scene;
    for (const [name, { wave }] of model.companions) {
      if (wave === undefined) continue;
      model.allowed[by].add(wave);
      const path = `/${world.full(name)}/configmaps/`;
      this.#released.push({ path, from: performance.now(), until: Number.POSITIVE_INFINITY });
    }
    return this.#scene.writeAllowance(by);
  }

  async #releaseByCommand(): Promise<void> {
    const { world, model } = this.#scene;
    const { code, err } = await ask(world, ['release', '--all-namespaces', '--yes']);
    // 1: something has changed meanwhile.
    if (code > 1) throw new Error(err);
    const there = await this.#scene.companions();
    for (const name of [...model.companions.keys()]) {
      const isHeld = model.fateOf(name) === 'held';
      if (code === 0 || !there.has(name)) expect([name, there.has(name)]).toEqual([name, !isHeld]);
      if (!there.has(name)) model.companions.delete(name);
    }
  }

  async #withdrawAllowance(): Promise<void> {
    for (const each of this.#released) each.until = Math.min(each.until, performance.now());
    for (const by of ['source', 'namespace'] as const) {
      const waves = this.#scene.model.allowed[by];
      if (waves.size === 0) continue;
      waves.clear();
      await this.#scene.writeAllowance(by);
    }
  }

  /** Resolves to the companions there. `isBefore`: the model does not know the last action yet. */
  #matches({ isBefore = false } = {}): Promise<ReadonlyMap<string, Seen>> {
    const { world, model } = this.#scene;
    return waitFor(
      async () => {
        const [there, revisions] = await Promise.all([this.#scene.companions(), this.#scene.revisions()]);
        const names = new Set([...there.keys(), ...model.companions.keys()]);
        for (const name of names) this.#isAsItShouldBe(name, there.get(name));
        expect(revisions).toEqual(
          [...model.kept].map(([each, stage]) => [model.texts(each).template, stage]),
        );
        return there;
      },
      {
        deadlineMs: DEADLINE_MS,
        describe: () => `what the model says${isBefore ? ' before' : ''}; ${world.whatWasLogged()}`,
      },
    );
  }

  #isAsItShouldBe(name: string, there: Seen | undefined): void {
    const { model } = this.#scene;
    const fate = model.fateOf(name);
    const should = model.companions.get(name);
    if (fate === 'released' || (fate === 'unwanted' && there === undefined)) {
      expect([name, fate, there]).toEqual([name, fate, undefined]);
    } else {
      const mark = expect.any(String);
      const wave = { wanted: undefined, stays: there?.wave, unwanted: mark, held: mark }[fate];
      const line = should && this.#scene.looksLike(should);
      expect([name, fate, there]).toEqual([name, fate, line === undefined ? undefined : { line, wave }]);
    }
  }

  /** From now on, what is held must stay. */
  #takeOver(there: ReadonlyMap<string, Seen>): void {
    const { companions } = this.#scene.model;
    for (const [name, held] of [...companions]) {
      const found = there.get(name);
      if (found === undefined) companions.delete(name);
      else companions.set(name, { ...held, wave: found.wave });
    }
  }
}
