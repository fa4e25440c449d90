import { expect, test } from 'vitest';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { ask, short } from '../inspect/ask.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { BLUE, edit, GREEN, hold, keeps, RED, revisionOf, shortOf } from './rolling.ts';
import { World } from './world.ts';

/** SPEC D6: new content goes to canaries first. */
export function canarySuite(server: TestServer): void {
  /** A red source, with canaries in `qa-…` and other companions in `team-…`. */
  async function openCanary(asks: StringMap = {}): Promise<World> {
    const world = await World.open(server, ['qa-a', 'qa-b', 'team-a', 'team-b']);
    await world.createSource({
      data: RED,
      asks: {
        'keep-revisions': '5',
        'target-namespaces': `${world.full('qa-*')},${world.full('team-*')}`,
        canary: world.full('qa-*'),
        'canary-bake': 'manual',
        ...asks,
      },
    });
    world.start();
    await everybody(world, RED);
    return world;
  }

  const everybody = (world: World, data: StringMap) =>
    hold(world, { 'qa-a': data, 'qa-b': data, 'team-a': data, 'team-b': data });
  const canariesOnly = (world: World, data: StringMap, former: StringMap = RED) =>
    hold(world, { 'qa-a': data, 'qa-b': data, 'team-a': former, 'team-b': former });

  /** The words of `status` about a companion: its state and why. */
  async function saidOf(world: World, key: string): Promise<string> {
    const { out } = await ask(world, ['status', world.full(key), '-o', 'json']);
    const [row] = JSON.parse(short(world, out));
    return `${row.state}: ${row.reason}${row.until === undefined ? '' : ' until …'}`;
  }

  const settled = async (world: World) => {
    const controller = world.start();
    await world.settle(controller, { namespaces: true });
    await controller.stop();
  };

  test.concurrent('[D6] new content goes to the canaries, and to the others when it is approved', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await settled(world);
    await canariesOnly(world, GREEN);
    expect(await saidOf(world, 'qa-a/colors-synced')).toBe('in sync: ');
    const waits = `content ${shortOf(GREEN)} is in 2 canaries and waits for workshop.io/canary-approve=${shortOf(GREEN)}`;
    expect(await saidOf(world, 'team-a/colors-synced')).toBe(`waiting: ${waits}`);
    await world.ask('home/colors', { 'canary-approve': shortOf(RED) });
    await settled(world);
    await canariesOnly(world, GREEN);
    await world.ask('home/colors', { 'canary-approve': shortOf(GREEN) });
    await everybody(world, GREEN);
    // It approves this content, not the next.
    await edit(world, BLUE);
    await canariesOnly(world, BLUE, GREEN);
  });

  test.concurrent('[D6] the others follow by themselves when the canaries have held the content long enough', async () => {
    await using world = await openCanary({ 'canary-bake': '2s' });
    await edit(world, GREEN);
    await everybody(world, GREEN);
    // When they were written tells it: a busy machine may be too late to see canaries alone with
    // it.
    const writtenAt = async (key: string) => {
      const { metadata } = await world.source(key);
      return Math.max(...(metadata.managedFields ?? []).map(({ time = '' }) => Date.parse(time)));
    };
    const heldFor = (await writtenAt('team-a/colors-synced')) - (await writtenAt('qa-a/colors-synced'));
    expect(heldFor).toBeGreaterThanOrEqual(2_000);
    expect((await world.source(revisionOf(GREEN))).metadata.annotations).not.toHaveProperty(
      `${world.domain}/canary-stage`,
    );
  });

  test.concurrent('[D6] a bad verdict stops it: canaries go back, are marked, and the next content is tried', async () => {
    await using world = await openCanary({ 'canary-bake': '1h' });
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    expect(await saidOf(world, 'team-a/colors-synced')).toBe(
      `waiting: content ${shortOf(GREEN)} is tried in 2 canaries until …`,
    );
    const verdict = { metadata: { annotations: world.ours({ verdict: 'Bad' }) } };
    await world.person.patch(world.full('qa-b/colors-synced'), verdict, 'smoke-test');
    const marked = { data: RED, annotations: world.ours({ 'canary-failed': shortOf(GREEN) }) };
    for (const key of ['qa-a/colors-synced', 'qa-b/colors-synced']) {
      await world.companion(key, 'home/colors', marked);
    }
    await hold(world, { 'team-a': RED, 'team-b': RED });
    await settled(world);
    expect(await saidOf(world, 'qa-b/colors-synced')).toBe(
      `waiting: content ${shortOf(GREEN)} failed in a canary`,
    );
    await edit(world, BLUE);
    await canariesOnly(world, BLUE);
    // It has failed, also when it comes back.
    await edit(world, GREEN);
    for (const key of ['qa-a/colors-synced', 'qa-b/colors-synced']) {
      await world.companion(key, 'home/colors', marked);
    }
    await world.ask('home/colors', { 'canary-approve': shortOf(GREEN) });
    await everybody(world, GREEN);
  });

  test.concurrent('[D4] [D5] contents that failed do not push out the one to which undo goes back', async () => {
    await using world = await openCanary({ 'canary-bake': '1h', 'keep-revisions': '1' });
    const failed = [GREEN, BLUE, { sky: 'grey' }];
    for (const data of failed) {
      await edit(world, data);
      await canariesOnly(world, data);
      const verdict = { metadata: { annotations: world.ours({ verdict: 'bad' }) } };
      await world.person.patch(world.full('qa-a/colors-synced'), verdict);
      const back = { data: RED, annotations: world.ours({ 'canary-failed': shortOf(data) }) };
      await world.companion('qa-a/colors-synced', 'home/colors', back);
    }
    const black = { sky: 'black' };
    await edit(world, black);
    await canariesOnly(world, black);
    await world.ask('home/colors', { 'canary-approve': shortOf(black) });
    await everybody(world, black);
    await keeps(world, RED, { sky: 'grey' }, black);
    await ask(world, ['undo', world.full('home/colors')]);
    await everybody(world, RED);
  });

  test.concurrent('[D6] a bad verdict counts also if its author has changed the canary', async () => {
    await using world = await openCanary({ 'canary-bake': '1h' });
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.person.patch(world.full('qa-a/colors-synced'), {
      metadata: { annotations: world.ours({ verdict: 'bad' }) },
      data: { log: 'it breaks' },
    });
    const marked = { data: RED, annotations: world.ours({ 'canary-failed': shortOf(GREEN) }) };
    await world.companion('qa-a/colors-synced', 'home/colors', marked);
    await world.companion('qa-b/colors-synced', 'home/colors', marked);
  });

  test.concurrent('[D6] [D8] run --once brings new content to the canaries, leaves the others, and exits with 0', async () => {
    await using world = await World.open(server, ['qa-a', 'team-a']);
    const asks = {
      'keep-revisions': '5',
      'target-namespaces': `${world.full('qa-a')},${world.full('team-a')}`,
      canary: world.full('qa-a'),
      'canary-bake': '5s',
    };
    await world.createSource({ data: RED, asks });
    expect((await world.run('--once')).code).toBe(0);
    await hold(world, { 'qa-a': RED, 'team-a': RED });
    await edit(world, GREEN);
    const { code, log } = await world.run('--once');
    expect([code, log]).toEqual([0, expect.stringContaining('companions left as they are')]);
    await hold(world, { 'qa-a': GREEN, 'team-a': RED });
    // Time passes although nobody runs.
    await waitFor(async () => {
      await world.run('--once');
      return (await world.configMap('team-a/colors-synced'))?.data?.['sky'] === 'green';
    });
  });

  test.concurrent('[D6] a verdict counts only for the content that it was set on', async () => {
    await using world = await openCanary({ 'canary-bake': '1h' });
    const verdict = { metadata: { annotations: world.ours({ verdict: 'bad' }) } };
    await world.person.patch(world.full('qa-a/colors-synced'), verdict);
    await world.person.patch(world.full('team-a/colors-synced'), verdict);
    await edit(world, GREEN);
    await hold(world, { 'qa-a': GREEN, 'qa-b': GREEN });
    await settled(world);
    await hold(world, { 'qa-a': GREEN, 'qa-b': GREEN });
    const other = await world.source('team-a/colors-synced');
    expect(other.data).toEqual(RED);
  });

  test.concurrent('[D6] failed content is tried again when somebody deletes its revision', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    const verdict = { metadata: { annotations: world.ours({ verdict: 'bad' }) } };
    await world.person.patch(world.full('qa-b/colors-synced'), verdict);
    const marked = { data: RED, annotations: world.ours({ 'canary-failed': shortOf(GREEN) }) };
    await world.companion('qa-a/colors-synced', 'home/colors', marked);
    await world.person.delete(world.full(revisionOf(GREEN)));
    await canariesOnly(world, GREEN);
  });

  test.concurrent('[D6] a restart at each step goes on where it was', async () => {
    await using world = await World.open(server, ['qa-a', 'team-a', 'team-b']);
    await world.createSource({
      data: RED,
      asks: {
        'keep-revisions': '5',
        'target-namespaces': `${world.full('qa-a')},${world.full('team-*')}`,
        canary: world.full('qa-a'),
        'canary-bake': '1s',
      },
    });
    const during = async (work: () => Promise<void>) => {
      await using _ = world.start();
      await work();
    };
    await during(() => hold(world, { 'qa-a': RED, 'team-a': RED, 'team-b': RED }));
    await edit(world, GREEN);
    await during(() => keeps(world, RED, GREEN));
    await during(() => hold(world, { 'qa-a': GREEN }));
    await during(() => hold(world, { 'team-a': GREEN }));
    await during(() => hold(world, { 'qa-a': GREEN, 'team-a': GREEN, 'team-b': GREEN }));
    await world.ask('home/colors', { 'canary-bake': '1h' });
    await edit(world, BLUE);
    await during(() => hold(world, { 'qa-a': BLUE, 'team-a': GREEN, 'team-b': GREEN }));
    const verdict = { metadata: { annotations: world.ours({ verdict: 'bad' }) } };
    await world.person.patch(world.full('qa-a/colors-synced'), verdict);
    const marked = { data: GREEN, annotations: world.ours({ 'canary-failed': shortOf(BLUE) }) };
    await during(async () => {
      await world.companion('qa-a/colors-synced', 'home/colors', marked);
    });
    await settled(world);
    await hold(world, { 'team-a': GREEN, 'team-b': GREEN });
  });

  test.concurrent('[D5] [D6] an edit during the bake starts over with the newest, and back to the former all is as before', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await edit(world, BLUE);
    await canariesOnly(world, BLUE);
    const notes = async () => {
      const { out } = await ask(world, ['history', world.full('home/colors')]);
      return out.split('\n').flatMap((line) => {
        const [order = '', checksum, , , note = ''] = line.split(/ {3,}/);
        return /^\d/.test(order) ? `${checksum}: ${note}` : [];
      });
    };
    const replaced = 'replaced before it left the canaries';
    expect(await notes()).toEqual([
      `${shortOf(BLUE)}: what the source says now; its canary is not over`,
      `${shortOf(GREEN)}: ${replaced}`,
      `${shortOf(RED)}: `,
    ]);
    await edit(world, RED);
    await everybody(world, RED);
    await settled(world);
    expect(await saidOf(world, 'team-a/colors-synced')).toBe('in sync: ');
    expect(await notes()).toEqual([
      `${shortOf(RED)}: what the source says now`,
      `${shortOf(BLUE)}: ${replaced}`,
      `${shortOf(GREEN)}: ${replaced}`,
    ]);
  });

  test.concurrent('[D6] namespaces that appear get the former content, canaries the new one', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.createNamespace('team-c');
    await world.createNamespace('qa-c');
    await hold(world, { 'team-c': RED, 'qa-c': GREEN });
    await canariesOnly(world, GREEN);
  });

  test.concurrent('[D6] a canary whose namespace is deleted no longer counts; without any, the content waits', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.person.deleteNamespace(world.full('qa-a'));
    await world.gone('qa-a/colors-synced');
    await world.person.deleteNamespace(world.full('qa-b'));
    await world.gone('qa-b/colors-synced');
    await waitFor(
      async () =>
        (await saidOf(world, 'team-a/colors-synced')) ===
        `waiting: content ${shortOf(GREEN)} waits: no target namespace is a canary`,
    );
    await settled(world);
    await hold(world, { 'team-a': RED, 'team-b': RED });
    await world.ask('home/colors', { canary: null });
    await hold(world, { 'team-a': GREEN, 'team-b': GREEN });
  });

  test.concurrent('[D6] other canaries: who is one gets the content, who is none goes back', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.ask('home/colors', { canary: world.full('team-a') });
    await hold(world, { 'qa-a': RED, 'qa-b': RED, 'team-a': GREEN, 'team-b': RED });
  });

  test.concurrent('[D5] [D6] a pin during the canary: all hold it, and the canary goes on afterwards', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.ask('home/colors', { pin: shortOf(RED) });
    await everybody(world, RED);
    await world.ask('home/colors', { pin: null });
    await canariesOnly(world, GREEN);
    expect((await ask(world, ['undo', world.full('home/colors')])).code).toBe(0);
    await everybody(world, RED);
    await world.ask('home/colors', { pin: shortOf(GREEN) });
    await everybody(world, GREEN);
    await world.ask('home/colors', { pin: null });
    await settled(world);
    await everybody(world, GREEN);
  });

  test.concurrent('[D6] a malformed canary, or one without revisions, changes nothing', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.ask('home/colors', { canary: 'qa in dev' });
    await settled(world);
    await world.ask('home/colors', { canary: world.full('qa-*'), 'keep-revisions': null });
    await settled(world);
    await canariesOnly(world, GREEN);
    await keeps(world, RED, GREEN);
  });

  test.concurrent('[D6] a heal of a canary, even of a key too many, starts its bake anew; the others are healed meanwhile', async () => {
    await using world = await openCanary({ 'canary-bake': '1h' });
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    const endOfBake = async () => {
      const { out } = await ask(world, ['status', world.full('team-a/colors-synced'), '-o', 'json']);
      return JSON.parse(out)[0].until;
    };
    const before = await endOfBake();
    await waitFor(async () => {
      await world.person.patch(world.full('qa-a/colors-synced'), { data: { sea: 'grey' } });
      await world.person.patch(world.full('team-a/colors-synced'), { data: { sky: 'grey' } });
      await canariesOnly(world, GREEN);
      return (await endOfBake()) > before;
    });
  });

  test.concurrent('[D6] without the revision of the former content, the others stay as they are', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await canariesOnly(world, GREEN);
    await world.person.delete(world.full(revisionOf(RED)));
    await settled(world);
    await world.createNamespace('team-c');
    await settled(world);
    await canariesOnly(world, GREEN);
    expect(await world.managed('team-c')).toEqual([]);
    await world.ask('home/colors', { 'canary-approve': shortOf(GREEN) });
    await everybody(world, GREEN);
    await hold(world, { 'team-c': GREEN });
  });

  test.concurrent('[D6] if somebody deletes the revision of a content that is everywhere, nothing goes back', async () => {
    await using world = await openCanary();
    await edit(world, GREEN);
    await world.ask('home/colors', { 'canary-approve': shortOf(GREEN) });
    await everybody(world, GREEN);
    await world.ask('home/colors', { 'canary-approve': null });
    await world.person.delete(world.full(revisionOf(GREEN)));
    await keeps(world, RED, GREEN);
    await settled(world);
    await everybody(world, GREEN);
  });
}
