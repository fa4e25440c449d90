import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { BLUE, edit, GREEN, hold, keeps, RED, revisionOf } from './rolling.ts';
import { World } from './world.ts';

const DEADLINE_MS = 60_000;

/** SPEC D7. The long times never end in a test. */
export function settleSuite(server: TestServer): void {
  test.concurrent('[D7] new content waits for quiet; heals, new namespaces and deletions do not', async () => {
    await using world = await World.open(server, ['team-a', 'team-b', 'team-c']);
    const controller = world.start();
    const asks = { 'target-namespaces': `${world.full('team-*')},!${world.full('team-c')}`, settle: '1h' };
    await world.createSource({ asks });
    const before = await world.companion('team-a/colors-synced', 'home/colors');
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'red' } });
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);

    await world.person.patch(world.full('team-b/colors-synced'), { data: { sky: 'tampered' } });
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.ask('home/colors', {
      'target-namespaces': `${world.full('team-a')},${world.full('team-c')}`,
    });
    await world.companion('team-c/colors-synced', 'home/colors');
    await world.gone('team-b/colors-synced');
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);

    await world.ask('home/colors', { settle: '50ms' });
    await world.companion('team-a/colors-synced', 'home/colors');
  });

  test.concurrent('[D7] [D4] versions that nobody got do not push what companions hold out of the revisions', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({ data: RED, asks: { settle: '1h', 'keep-revisions': '1' } });
    await world.companion('home/colors-synced', 'home/colors');
    for (const data of [GREEN, BLUE]) {
      await edit(world, data);
      await world.settle(controller);
    }
    const kept = async () => (await world.managed('home')).filter((key) => key.includes('-rev-'));
    expect(await kept()).toEqual([revisionOf(RED)]);
    await world.ask('home/colors', { settle: '50ms' });
    await world.companion('home/colors-synced', 'home/colors');
    await world.settle(controller);
    expect(await kept()).toEqual([revisionOf(RED), revisionOf(BLUE)].sort());
  });

  test.concurrent('[D7] [D4] [D6] nor does a heal with the previous content keep a version that nobody got', async () => {
    await using world = await World.open(server, ['qa-a', 'team-a']);
    const controller = world.start();
    const asks = {
      'keep-revisions': '1',
      'target-namespaces': `${world.full('qa-a')},${world.full('team-a')}`,
      canary: world.full('qa-a'),
      settle: '1h',
    };
    await world.createSource({ data: RED, asks });
    await hold(world, { 'qa-a': RED, 'team-a': RED });
    await edit(world, GREEN);
    await world.settle(controller);
    await world.person.patch(world.full('team-a/colors-synced'), { data: { sky: 'tampered' } });
    await hold(world, { 'qa-a': RED, 'team-a': RED });
    await world.settle(controller);
    await keeps(world, RED);
    // A heal of a canary gives it the new content, which is kept first.
    await world.person.patch(world.full('qa-a/colors-synced'), { data: { sky: 'tampered' } });
    await hold(world, { 'qa-a': GREEN, 'team-a': RED });
    await keeps(world, RED, GREEN);
  });

  test.concurrent('[D7] a source that never becomes quiet is mirrored all the same', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ asks: { settle: '200ms' } });
    await world.companion('home/colors-synced', 'home/colors');
    let round = 0;
    await waitFor(
      async () => {
        round += 1;
        await world.person.patch(world.full('home/colors'), { data: { sky: `${round}` } });
        return (await world.source('home/colors-synced')).data?.['sky'] !== 'blue';
      },
      { deadlineMs: DEADLINE_MS, describe: () => world.whatWasLogged() },
    );
  });

  test.concurrent('[D7] a source with more than ten versions a minute is reported once', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource();
    for (let round = 0; round < 15; round += 1) {
      await world.person.patch(world.full('home/colors'), { data: { sky: `${round}` } });
      await world.companion('home/colors-synced', 'home/colors');
    }
    const told = () =>
      controller.log.told.filter(({ reason }) =>
        String(reason).startsWith('it has changed more than ten times'),
      );
    await waitFor(() => told().length > 0, { deadlineMs: DEADLINE_MS });
    await world.settle(controller);
    expect(told()).toHaveLength(1);
  });
}
