import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { edit, GREEN, RED, revisionOf } from './rolling.ts';
import { World } from './world.ts';

/** Starting, running beside others, and running once. */
export function runningSuite(server: TestServer): void {
  test('[M9] [R5] a restart over 1,000 settled companions makes no write', async () => {
    await using world = await World.open(
      server,
      Array.from({ length: 10 }, (_, number) => `team-${number}`),
    );
    const asks = { 'target-namespaces': world.full('team-*') };
    const first = world.start();
    const names = Array.from({ length: 100 }, (_, number) => `source-${number}`);
    await Promise.all(names.map((name) => world.createSource({ name, asks })));
    const companions = async () =>
      (await world.managed(...Array.from({ length: 10 }, (_, i) => `team-${i}`))).length;
    await waitFor(async () => (await companions()) === 1_000, { deadlineMs: 30_000 });
    await world.settle(first);
    await first.stop();
    const before = await world.place.countWrites();
    expect(before).toBeGreaterThanOrEqual(1_100);
    const second = world.start();
    await waitFor(() => second.isSettled(), { deadlineMs: 30_000 });
    await second.stop();
    expect(await world.place.countWrites()).toBe(before);
  });

  test.concurrent('[R2] a create that meets our own companion, hidden from the watch, heals it', async () => {
    await using world = await World.open(server);
    const first = world.start();
    await world.createSource();
    const { metadata } = await world.companion('home/colors-synced', 'home/colors');
    await first.stop();
    await world.person.patch(world.full('home/colors-synced'), {
      data: { sky: 'red' },
      metadata: { labels: { [`${world.domain}/managed`]: null } },
    });
    const controller = world.start();
    const healed = await world.companion('home/colors-synced', 'home/colors');
    expect(healed.metadata.uid).toBe(metadata.uid);
    await world.settle(controller);
    expect(controller.log.told.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test.concurrent('[R9] [R10] a namespace that is deleted during a fan-out holds nothing back', async () => {
    const teams = Array.from({ length: 30 }, (_, number) => `team-${number}`);
    await using world = await World.open(server, teams);
    const controller = world.start({ 'max-writes-in-flight': '2' });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await waitFor(async () => (await world.managed(...teams)).length >= 3);
    await world.person.deleteNamespace(world.full('team-29'));
    await world.person.deleteNamespace(world.full('team-0'));
    for (const team of teams.slice(1, -1)) await world.companion(`${team}/colors-synced`, 'home/colors');
    await world.settle(controller, { namespaces: true });
    expect(controller.log.told.filter(({ level }) => level !== 'info')).toEqual([]);
    const goneAt = async () => world.person.namespace(world.full('team-29'));
    await waitFor(async () => (await goneAt()) === undefined, { deadlineMs: 20_000 });
    await world.createNamespace('team-29');
    await world.companion('team-29/colors-synced', 'home/colors');
  });

  test.concurrent('[W4] everything works without a cache of source bodies', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    world.start({ 'source-cache-size': '0' });
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    for (const team of ['team-a', 'team-b']) await world.companion(`${team}/colors-synced`, 'home/colors');
    await world.person.patch(world.full('team-a/colors-synced'), { data: { sky: 'red' } });
    await world.companion('team-a/colors-synced', 'home/colors');
    for (const sky of ['1', '2', '3']) await world.person.patch(world.full('home/colors'), { data: { sky } });
    for (const team of ['team-a', 'team-b']) await world.companion(`${team}/colors-synced`, 'home/colors');
  });

  test.concurrent('[W1] unrelated ConfigMaps are left alone, and cost nothing', async () => {
    await using world = await World.open(server);
    const create = (name: string) =>
      world.person.create({ metadata: { name, namespace: world.full('home'), labels: { team: 'x' } } });
    await create('before');
    const controller = world.start();
    const listed = () => controller.log.lines.filter(({ message }) => message === 'listed');
    await waitFor(() => listed().length > 0);
    await create('after');
    await world.settle(controller);
    expect(listed()).toEqual([expect.objectContaining({ objects: 0 })]);
    expect(await world.managed('home')).toEqual(['home/after', 'home/before']);
  });

  test.concurrent('[W4] [M5] the content of a companion counts, not its checksum annotation', async () => {
    await using world = await World.open(server);
    const first = world.start();
    await world.createSource();
    await world.companion('home/colors-synced', 'home/colors');
    await first.stop();
    // The companion still has the source's checksum.
    await world.person.patch(world.full('home/colors-synced'), { data: { sky: 'red' } });
    world.start();
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[C4] run --once converges, exits with 0 and leaves nothing to do', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.createSource({ name: 'plain' });
    await world.createSource({ name: 'bad', asks: { 'deletion-policy': 'x' } });
    expect(await world.run('--once')).toEqual({ code: 0, log: expect.stringContaining('all done') });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.companion('home/plain-synced', 'home/plain');
    const before = await world.place.countWrites();
    expect((await world.run('--once')).code).toBe(0);
    expect(await world.place.countWrites()).toBe(before);
  });

  test.concurrent('[C4] run --dry-run logs what it would write, and writes nothing', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.run('--once');
    await world.ask('home/colors', { 'target-namespaces': world.full('team-b') });
    await world.createSource({ name: 'plain' });
    const before = await world.place.countWrites();
    const { code, log } = await world.run('--once', '--dry-run');
    expect(await world.place.countWrites()).toBe(before);
    expect(code).toBe(0);
    expect(log).toContain('nothing was written');
    expect(log).not.toContain('all done');
    const said = linesOf(log, /would be/).map(({ msg, companion }) => `${msg}: ${companion}`);
    expect(said.sort()).toEqual([
      `companion would be created: ${world.full('home/plain-synced')}`,
      `companion would be created: ${world.full('team-b/colors-synced')}`,
      `companion would be deleted: ${world.full('team-a/colors-synced')}`,
    ]);
  });

  test.concurrent('[C4] [R6] [D4] a dry run finds what has a name that looks free, and reports what run would', async () => {
    await using world = await World.open(server, ['team-a']);
    const foreign = (name: string) =>
      world.person.create({ metadata: { name, namespace: world.full('home') }, data: { mine: 'x' } });
    const asks = { 'keep-revisions': '5' };
    await world.createSource({ data: RED, asks });
    await world.createSource({ name: 'hidden' });
    await world.run('--once');
    await world.unlabel('home/hidden-synced');
    await edit(world, GREEN);
    await foreign(revisionOf(GREEN).slice('home/'.length));
    await foreign('taken-synced');
    await world.createSource({ name: 'taken' });
    await world.createSource({ name: 'plain' });
    const before = await world.place.countWrites();
    const dry = await world.run('--once', '--dry-run');
    expect([dry.code, await world.place.countWrites()]).toEqual([0, before]);
    expect(
      linesOf(dry.log, /would be/)
        .map(({ msg, ...of }) => `${msg}: ${of['companion']}`)
        .sort(),
    ).toEqual([
      `companion would be created: ${world.full('home/plain-synced')}`,
      `companion would be updated: ${world.full('home/hidden-synced')}`,
    ]);
    const left = linesOf(dry.log, /left as they are/);
    expect(left).toMatchObject([{ conflict: 2 }]);
    expect(left[0]).not.toHaveProperty('missing');
    expect(
      linesOf(dry.log, /companion in conflict/)
        .map(({ companion }) => companion)
        .sort(),
    ).toEqual([world.full('home/colors-synced'), world.full('home/taken-synced')]);
  });

  test.concurrent('[D8] [D4] run --once counts companions that wait because a revision’s name is taken', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const asks = { 'keep-revisions': '5', 'target-namespaces': world.full('team-*') };
    await world.createSource({ data: RED, asks });
    await world.run('--once');
    await edit(world, GREEN);
    const [, name = ''] = revisionOf(GREEN).split('/');
    await world.person.create({ metadata: { name, namespace: world.full('home') }, data: { mine: 'x' } });
    const { code, log } = await world.run('--once');
    expect([code, linesOf(log, /left as they are/)]).toEqual([0, [expect.objectContaining({ conflict: 2 })]]);
  });
}

/** The lines of a JSON log with such a message. */
function linesOf(log: string, message: RegExp): readonly Record<string, unknown>[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => message.test(String(msg)));
}
