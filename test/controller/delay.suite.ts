import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { World } from './world.ts';

/**
 * SPEC D3, D8. No test waits for a delay: the long ones never end, and the short ones need not be
 * exact.
 */
export function delaySuite(server: TestServer): void {
  const LONG = { 'delete-after': '1h' };
  const carried = (world: World, text = '1h') => ({ annotations: world.ours({ 'delete-after': text }) });
  const targets = (world: World, ...names: readonly string[]) => ({
    'target-namespaces': names.map((name) => world.full(name)).join(','),
  });

  test.concurrent('[D3] a narrowed target keeps its companion until the delay is over', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const controller = world.start();
    await world.createSource({ asks: { ...targets(world, 'team-a', 'team-b'), ...LONG } });
    const before = await world.companion('team-a/colors-synced', 'home/colors', carried(world));
    await world.ask('home/colors', targets(world, 'team-b'));
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
    await world.ask('home/colors', { 'delete-after': '50ms' });
    await world.gone('team-a/colors-synced');
    await world.companion('team-b/colors-synced', 'home/colors', carried(world, '50ms'));
  });

  test.concurrent('[D3] wanted again in time, nothing has happened', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const controller = world.start();
    await world.createSource({ asks: { ...targets(world, 'team-a', 'team-b'), ...LONG } });
    const before = await world.companion('team-a/colors-synced', 'home/colors', carried(world));
    await world.ask('home/colors', targets(world, 'team-b'));
    await world.settle(controller);
    await world.ask('home/colors', targets(world, 'team-a', 'team-b'));
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
  });

  for (const down of [false, true]) {
    test.concurrent(`[D3] the companions of a source that is gone wait, too (${down ? 'deleted while down' : 'running'})`, async () => {
      await using world = await World.open(server, ['team-a']);
      let controller = world.start();
      await world.createSource({ asks: { ...targets(world, 'team-a'), ...LONG } });
      const before = await world.companion('team-a/colors-synced', 'home/colors', carried(world));
      if (down) await controller.stop();
      await world.person.delete(world.full('home/colors'));
      if (down) controller = world.start();
      await world.settle(controller, { namespaces: true });
      expect(await world.configMap('team-a/colors-synced')).toEqual(before);
      await world.ask('team-a/colors-synced', { 'delete-after': '50ms' });
      await world.gone('team-a/colors-synced');
    });
  }

  test.concurrent('[D3] withdrawn consent is not delayed', async () => {
    await using world = await World.open(server, ['team-a']);
    world.start();
    await world.createSource({ asks: { ...targets(world, 'team-a'), ...LONG } });
    await world.companion('team-a/colors-synced', 'home/colors', carried(world));
    await world.person.patchNamespace(world.full('team-a'), {
      metadata: { annotations: world.ours({ 'accept-mirrors-from': '' }) },
    });
    await world.gone('team-a/colors-synced');
  });

  test.concurrent('[D8] run --once leaves what is delayed, says so and exits with 0', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    await world.createSource({ asks: { ...targets(world, 'team-a', 'team-b'), ...LONG } });
    expect((await world.run('--once')).code).toBe(0);
    await world.ask('home/colors', targets(world, 'team-b'));
    const { code, log } = await world.run('--once');
    expect(code).toBe(0);
    expect(log).toContain('"waiting":1');
    await world.companion('team-a/colors-synced', 'home/colors', carried(world));
  });
}
