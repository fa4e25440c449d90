import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { ask, short } from '../inspect/ask.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

const BRAKE = { 'delete-brake': '10' };
const DEADLINE_MS = 60_000;

/** As SPEC D1 defines it. */
function waveOf(companions: readonly ConfigMap[]): string {
  const uids = companions.map(({ metadata }) => metadata.uid).sort();
  const text = uids.map((uid) => `${uid}\n`).join('');
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

interface SeenEvent {
  readonly reason: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** A world with companions of `home/colors` in teams. */
class Fleet implements AsyncDisposable {
  readonly world: World;
  readonly teams: readonly string[];

  static async open(server: TestServer, teams: number): Promise<Fleet> {
    const names = Array.from({ length: teams }, (_, index) => `team-${index}`);
    const fleet = new Fleet(await World.open(server, names), names);
    await fleet.world.createSource({ asks: { 'target-namespaces': fleet.world.full('team-*') } });
    return fleet;
  }

  private constructor(world: World, teams: readonly string[]) {
    this.world = world;
    this.teams = teams;
  }

  /** Until every team has a companion that is exactly as it should be. */
  async whole(): Promise<readonly ConfigMap[]> {
    return Promise.all(
      this.teams.map((team) => this.world.companion(`${team}/colors-synced`, 'home/colors')),
    );
  }

  async narrow(targets = 'taem-*'): Promise<void> {
    await this.world.ask('home/colors', { 'target-namespaces': this.world.full(targets) });
  }

  async there(): Promise<readonly ConfigMap[]> {
    const found = await Promise.all(this.teams.map((team) => this.world.configMap(`${team}/colors-synced`)));
    return found.filter((object) => object !== undefined);
  }

  markOn({ metadata }: ConfigMap): string | undefined {
    return metadata.annotations?.[`${this.world.domain}/held`];
  }

  /** Until all companions carry one mark. Resolves to it. */
  held(count = this.teams.length): Promise<string> {
    return waitFor(
      async () => {
        const marks = (await this.there()).map((companion) => this.markOn(companion));
        const [wave] = marks;
        expect(marks).toEqual(Array(count).fill(expect.any(String)));
        expect(new Set(marks)).toEqual(new Set([wave]));
        return wave;
      },
      { deadlineMs: DEADLINE_MS, describe: () => `${count} marks; ${this.world.whatWasLogged()}` },
    );
  }

  async allGone(): Promise<void> {
    for (const team of this.teams) await this.world.gone(`${team}/colors-synced`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

/** Until the brake has marked a companion. */
function marked(world: World, key: string): Promise<ConfigMap> {
  return waitFor(
    async () => {
      const found = await world.configMap(key);
      if (found === undefined) throw new Error(`${key} is gone`);
      expect(found.metadata.annotations).toHaveProperty(`${world.domain}/held`);
      return found;
    },
    { deadlineMs: DEADLINE_MS, describe: () => `a mark on ${key}; ${world.whatWasLogged()}` },
  );
}

/** SPEC D1, D2. */
export function brakeSuite(server: TestServer): void {
  test.concurrent('[D1] a typo in the targets of 30 namespaces loses nothing, and its correction removes the marks', async () => {
    await using fleet = await Fleet.open(server, 30);
    const { world } = fleet;
    const controller = world.start(BRAKE);
    const before = await fleet.whole();
    await fleet.narrow();
    expect(await fleet.held()).toBe(waveOf(before));
    await world.settle(controller, { namespaces: true });
    const marked = await fleet.there();
    expect(marked.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
    // What is held is left alone.
    await world.settle(controller);
    expect(await fleet.there()).toEqual(marked);
    expect(controller.log.told).toContainEqual(
      expect.objectContaining({ message: 'deletions are held', source: world.full('home/colors') }),
    );
    await fleet.narrow('team-*');
    const after = await fleet.whole();
    expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid));
  });

  test.concurrent('[D2] the wave on the source releases them, another one does not', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const controller = world.start(BRAKE);
    await fleet.whole();
    await fleet.narrow();
    const wave = await fleet.held();
    await world.ask('home/colors', { 'allow-deletes': 'deadbeef' });
    await world.settle(controller);
    expect(await fleet.there()).toHaveLength(12);
    await world.ask('home/colors', { 'allow-deletes': wave });
    await fleet.allGone();
  });

  test.concurrent('[D2] a wave is reported once, however many of its companions are still to be released', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const controller = world.start(BRAKE);
    await fleet.whole();
    await fleet.narrow();
    await fleet.held();
    for (const team of fleet.teams) {
      await world.person.delete(world.full(`${team}/colors-synced`));
      await world.settle(controller);
    }
    const told = controller.log.told.filter(({ message, was }) =>
      [message, was].includes('deletions are held'),
    );
    expect(told.map(({ message }) => message)).toEqual(['deletions are held', 'resolved']);
  });

  test.concurrent('[D2] the wave on the Namespace releases the companions of a source that is gone', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    world.start(BRAKE);
    await fleet.whole();
    await world.person.delete(world.full('home/colors'));
    const wave = await fleet.held();
    const annotations = world.ours({ 'allow-deletes': `deadbeef,${wave}` });
    await world.person.patchNamespace(world.full('home'), { metadata: { annotations } });
    await fleet.allGone();
  });

  test.concurrent('[D1] [D2] a namespace of sources that is deleted takes no companion with it, and its Event survives it', async () => {
    const teams = Array.from({ length: 12 }, (_, index) => `team-${index}`);
    await using world = await World.open(server, ['platform', ...teams]);
    world.start(BRAKE);
    await world.createSource({ in: 'platform', asks: { 'target-namespaces': world.full('team-*') } });
    for (const team of teams) await world.companion(`${team}/colors-synced`, 'platform/colors');
    await world.person.deleteNamespace(world.full('platform'));
    const options = { deadlineMs: DEADLINE_MS, describe: () => world.whatWasLogged() };
    await waitFor(async () => (await world.person.namespace(world.full('platform'))) === undefined, options);
    const held = `${world.domain}/held`;
    const marks = () =>
      Promise.all(teams.map(async (team) => (await world.source(`${team}/colors-synced`)).metadata));
    await waitFor(async () => (await marks()).every(({ annotations }) => annotations?.[held]), options);
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    await waitFor(async () => {
      const { items = [] } = (await world.person.get<{ items: SeenEvent[] }>(path)) ?? {};
      return items.some(
        ({ reason, regarding: { kind, name } }) =>
          reason === 'DeletesHeld' && kind === 'Namespace' && name === world.full('platform'),
      );
    }, options);
    expect(await ask(world, ['release', '-n', world.full('platform'), '--yes'])).toMatchObject({ code: 0 });
    for (const team of teams) expect(await world.configMap(`${team}/colors-synced`)).toBeUndefined();
  });

  test.concurrent('[D2] also of one beside its source, although nothing else needs the Namespaces', async () => {
    await using world = await World.open(server);
    await world.createSource();
    world.start({ 'delete-brake': '1' });
    const { metadata } = await world.companion('home/colors-synced', 'home/colors');
    await world.unlabel('home/colors');
    const orphan = await marked(world, 'home/colors-synced');
    const wave = waveOf([orphan]);
    expect(orphan.metadata).toMatchObject({
      uid: metadata.uid,
      annotations: world.ours({ held: wave }),
    });
    const annotations = world.ours({ 'allow-deletes': wave });
    await world.person.patchNamespace(world.full('home'), { metadata: { annotations } });
    await world.gone('home/colors-synced');
  });

  test.concurrent('[D1] consent that is withdrawn from what is held deletes it', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    world.start(BRAKE);
    await fleet.whole();
    await fleet.narrow();
    await fleet.held();
    const annotations = world.ours({ 'accept-mirrors-from': '' });
    await world.person.patchNamespace(world.full('team-3'), { metadata: { annotations } });
    await world.gone('team-3/colors-synced');
    await fleet.held(11);
  });

  test.concurrent('[D1] a restart without the brake still holds what is marked', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const braking = world.start(BRAKE);
    await fleet.whole();
    await fleet.narrow();
    await fleet.held();
    await braking.stop();
    const before = await fleet.there();
    const free = world.start();
    await world.settle(free, { namespaces: true });
    expect(await fleet.there()).toEqual(before);
  });

  test.concurrent('[D1] a leader that takes over in the middle goes on holding', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const slow: RunningController = world.start({ ...BRAKE, 'max-writes-per-second': '3' });
    await fleet.whole();
    await fleet.narrow();
    await waitFor(async () => (await fleet.there()).some((companion) => fleet.markOn(companion)), {
      deadlineMs: DEADLINE_MS,
    });
    await slow.stop();
    const next = world.start(BRAKE);
    await world.settle(next, { namespaces: true });
    await fleet.held();
  });

  test.concurrent('[D1] two controllers at once hold the same, with the same mark', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    world.start(BRAKE);
    world.start(BRAKE);
    const before = await fleet.whole();
    await fleet.narrow();
    expect(await fleet.held()).toBe(waveOf(before));
  });

  test.concurrent('[D1] 500 sources deleted while the controller was down lose nothing', async () => {
    await using world = await World.open(server, ['team-a']);
    const asks = { 'target-namespaces': world.full('team-a') };
    const names = Array.from({ length: 500 }, (_, index) => `source-${index}`);
    await inParallel(names, (name) => world.createSource({ name, asks, data: { name } }));
    const first = world.start(BRAKE);
    const selector = `${world.domain}/managed=companion`;
    const there = () => world.person.configMaps(world.full('team-a'), selector);
    await waitFor(async () => (await there()).length === 500, { deadlineMs: DEADLINE_MS });
    await first.stop();
    await inParallel(names, (name) => world.person.delete(world.full(`home/${name}`)));
    const second = world.start(BRAKE);
    await waitFor(
      async () =>
        (await there()).every(({ metadata }) => metadata.annotations?.[`${world.domain}/held`] !== undefined),
      { deadlineMs: DEADLINE_MS },
    );
    await world.settle(second, { namespaces: true });
    expect(await there()).toHaveLength(500);
  });

  test.concurrent('[D8] run --once marks what is held, says how much that is, and exits with 0', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const once = () => world.run('--once', '--delete-brake=10');
    expect((await once()).code).toBe(0);
    await fleet.narrow();
    const { code, log } = await once();
    expect([code, log]).toEqual([0, expect.stringMatching(/"held":12[^\n]*companions left as they are/)]);
    const wave = await fleet.held();
    const before = await world.place.countWrites();
    expect((await once()).code).toBe(0);
    expect(await world.place.countWrites()).toBe(before);
    await world.ask('home/colors', { 'allow-deletes': wave });
    const after = await once();
    expect([after.code, after.log]).toEqual([0, expect.not.stringContaining('left waiting')]);
    expect(await fleet.there()).toEqual([]);
  });

  test.concurrent('[W1] [D1] under a brake, a source without guards costs the requests that its changes need, and no other', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
    world.start(BRAKE, { cluster: { server: proxy.url } });
    const targets = { 'target-namespaces': world.full('team-*') };
    await world.createSource({ asks: targets });
    const follow = async (...teams: readonly string[]) => {
      for (const team of teams) await world.companion(`${team}/colors-synced`, 'home/colors');
    };
    await follow('team-a', 'team-b');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
    await follow('team-a', 'team-b');
    await world.ask('home/colors', { 'target-namespaces': world.full('team-a') });
    await world.gone('team-b/colors-synced');
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-a/colors-synced');
    const companionsIn = (...teams: readonly string[]) =>
      teams.map((team) => `/api/v1/namespaces/${team}/configmaps/colors-synced`);
    const made = proxy.requests.filter(({ path }) => !path.includes('/events'));
    expect(
      made.map(({ method, path }) => `${method} ${short(world, path.replace(/\?.*/, ''))}`).sort(),
    ).toEqual(
      [
        'GET /api/v1/configmaps',
        'GET /api/v1/namespaces',
        'POST /api/v1/namespaces/team-a/configmaps',
        'POST /api/v1/namespaces/team-b/configmaps',
        ...companionsIn('team-a', 'team-b').map((path) => `PATCH ${path}`),
        ...companionsIn('team-a', 'team-b').map((path) => `DELETE ${path}`),
        // Whether the source is really gone.
        'GET /api/v1/namespaces/home/configmaps/colors',
      ].sort(),
    );
  });

  test.concurrent('[D1] fewer than the number are deleted, and count for those that follow', async () => {
    await using fleet = await Fleet.open(server, 12);
    const { world } = fleet;
    const controller = world.start(BRAKE);
    await fleet.whole();
    const targets = (from: number) =>
      fleet.teams
        .slice(from)
        .map((team) => world.full(team))
        .join(',');
    for (const from of [3, 6, 9]) {
      await world.ask('home/colors', { 'target-namespaces': targets(from) });
      await world.gone(`team-${from - 1}/colors-synced`);
      await world.settle(controller);
    }
    await world.ask('home/colors', { 'target-namespaces': targets(11) });
    await waitFor(async () => fleet.markOn(await world.source('team-9/colors-synced')), {
      deadlineMs: DEADLINE_MS,
    });
    await world.settle(controller);
    expect(await fleet.there()).toHaveLength(3);
  });
}

/** SPEC D2: the command. */
export function releaseSuite(server: TestServer): void {
  /** Twelve held companions of a source that was narrowed, and no controller. */
  const openHeld = async () => {
    const fleet = await Fleet.open(server, 12);
    const controller = fleet.world.start(BRAKE);
    await fleet.whole();
    await fleet.narrow();
    await fleet.held();
    await controller.stop();
    return fleet;
  };
  const home = (world: World) => ['-n', world.full('home')];

  test.concurrent('[D2] release without a terminal shows what is held and exits with 2; with --yes it deletes that', async () => {
    await using fleet = await openHeld();
    const { world } = fleet;
    for (const [calledAs, name] of [
      ['mirror-controller', 'mirror-controller'],
      ['kubectl-mirror', 'kubectl mirror'],
    ]) {
      const asking = ['explain', world.full('team-0/colors-synced')];
      const { out } = await ask(world, asking, memoryIo(), calledAs);
      expect(short(world, out)).toContain(`\nTo let it be deleted:\n  ${name} release home/colors\n`);
    }
    const asked = await ask(world, ['release', ...home(world)]);
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
    expect(short(world, asked.out)).toContain('home/colors');
    expect(await fleet.there()).toHaveLength(12);
    const done = await ask(world, ['release', world.full('home/colors'), '--yes']);
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(await fleet.there()).toHaveLength(0);
    expect(short(world, done.out)).toContain('team-0/colors-synced deleted\n');
    expect(await ask(world, ['release', ...home(world), '--yes'])).toMatchObject({
      code: 0,
      out: `nothing is held in namespace ${world.full('home')}\n`,
    });
  });

  test.concurrent('[D2] release deletes only what was asked for', async () => {
    await using fleet = await openHeld();
    const { world } = fleet;
    await world.createSource({ name: 'shapes' });
    const elsewhere = await ask(world, ['release', '--yes', '-n', world.full('team-0')]);
    expect(elsewhere).toMatchObject({
      code: 0,
      out: `nothing is held in namespace ${world.full('team-0')}\n`,
    });
    const other = await ask(world, ['release', '--yes', world.full('home/shapes')]);
    expect(other).toMatchObject({ code: 0, out: 'nothing is held\n' });
    expect(await fleet.there()).toHaveLength(12);
  });

  test.concurrent('[D2] release of what is not a source says so and exits with 2, as status does', async () => {
    await using fleet = await openHeld();
    const { world } = fleet;
    const colours = world.full('home/colours');
    expect(await ask(world, ['release', '--yes', world.full('home/colors'), colours])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(`${colours} is not a source\n`),
    });
    expect(await fleet.there()).toHaveLength(12);
  });

  test.concurrent('[D2] release asks on a terminal, and only yes means it', async () => {
    await using fleet = await openHeld();
    const { world } = fleet;
    const answering = async (answer: string) => {
      const io = memoryIo();
      const stdin = Object.assign(Readable.from([answer]), { isTTY: true });
      const stdout = Object.assign(io.stdout, { isTTY: true, columns: 80 });
      const { code, out } = await ask(world, ['release', ...home(world)], { ...io, stdin, stdout });
      expect([code, out.includes('Delete these 12 companions? [y/N]')]).toEqual([0, true]);
    };
    for (const answer of ['\n', 'no\n', '']) await answering(answer);
    expect(await fleet.there()).toHaveLength(12);
    await answering('y\n');
    expect(await fleet.there()).toHaveLength(0);
  });

  test.concurrent('[D2] release keeps what is wanted again while it asks', async () => {
    await using fleet = await openHeld();
    const { world } = fleet;
    const io = memoryIo();
    async function* answer() {
      await waitFor(() => io.out().includes('[y/N]'));
      // The command may not have seen it yet. But the companion has changed since.
      world.start(BRAKE);
      await fleet.narrow('team-1*');
      await waitFor(async () => fleet.markOn(await world.source('team-11/colors-synced')) === undefined, {
        deadlineMs: DEADLINE_MS,
      });
      yield 'y\n';
    }
    const stdin = Object.assign(Readable.from(answer()), { isTTY: true });
    const stdout = Object.assign(io.stdout, { isTTY: true, columns: 80 });
    await ask(world, ['release', ...home(world)], { ...io, stdin, stdout });
    await world.companion('team-11/colors-synced', 'home/colors');
    expect((await fleet.there()).length).toBeLessThan(12);
  });
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
}
