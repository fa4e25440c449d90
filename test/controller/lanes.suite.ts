import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { World } from './world.ts';

const TEAMS = Array.from({ length: 60 }, (_, number) => `team-${number}`);
const BIG_SOURCES = Array.from({ length: 10 }, (_, number) => `big-${number}`);
const FAN_OUT = TEAMS.length * BIG_SOURCES.length;

/**
 * More sources with large fan-outs than there are workers, and 250 writes a second, so that the
 * fan-outs take seconds. The tests assert an order: fresh work ends before the fan-outs do.
 */
export function lanesSuite(server: TestServer): void {
  async function busyWorld() {
    const world = await World.open(server, TEAMS);
    const asks = { 'target-namespaces': world.full('team-*') };
    await Promise.all(BIG_SOURCES.map((name) => world.createSource({ name, asks })));
    await world.createSource({ name: 'small' });
    const controller = world.start({
      workers: '4',
      'max-writes-in-flight': '4',
      'max-writes-per-second': '250',
    });
    const written = async () => (await world.managed(...TEAMS)).length;
    return { world, controller, written };
  }

  test('[Q2] an edit, a heal and a new source overtake fan-outs that are under way', async () => {
    const { world, written } = await busyWorld();
    await using _ = world;
    await world.companion('home/small-synced', 'home/small');
    await world.person.patch(world.full('home/small'), { data: { sky: 'grey' } });
    await world.companion('home/small-synced', 'home/small');
    await world.person.delete(world.full('home/small-synced'));
    await world.companion('home/small-synced', 'home/small');
    await world.createSource({ name: 'new' });
    await world.companion('home/new-synced', 'home/new');
    expect(await written()).toBeLessThan(FAN_OUT);
  });

  test('[Q2] a new namespace gets its companions before the fan-outs of the same sources end', async () => {
    const { world, written } = await busyWorld();
    await using _ = world;
    await world.companion('home/small-synced', 'home/small');
    await world.createNamespace('team-new');
    await Promise.all(BIG_SOURCES.map((name) => world.companion(`team-new/${name}-synced`, `home/${name}`)));
    expect(await written()).toBeLessThan(FAN_OUT);
  });

  test('[Q2] the fan-outs are completed, and an edit meanwhile reaches every companion', async () => {
    const { world, controller, written } = await busyWorld();
    await using _ = world;
    await world.companion('home/small-synced', 'home/small');
    const source = await world.person.patch(world.full('home/big-0'), { data: { sky: 'grey' } });
    await Promise.all(TEAMS.map((team) => world.companion(`${team}/big-0-synced`, source)));
    await world.settle(controller);
    expect(await written()).toBe(FAN_OUT);
  });

  test('[Q3] a stop during a fan-out lets only what is in flight end', async () => {
    const { world, controller, written } = await busyWorld();
    await using _ = world;
    await world.companion('home/small-synced', 'home/small');
    const before = await world.place.countWrites();
    await controller.stop();
    const after = await world.place.countWrites();
    // Four writes are in flight, and some begin while we count. Hundreds are left in the passes.
    expect(after - before).toBeLessThan(30);
    const atStop = await written();
    await world.createSource({ name: 'late' });
    expect([await written(), await world.configMap('home/late-synced')]).toEqual([atStop, undefined]);
  });

  test('[C4] a dry run of a large fan-out logs each write once, and ends', async () => {
    const teams = Array.from({ length: 1001 }, (_, number) => `team-${number}`);
    await using world = await World.open(server, teams);
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    const { code, log } = await world.run('--once', '--dry-run');
    expect(code).toBe(0);
    expect(log.split('\n').filter((line) => line.includes('companion would be'))).toHaveLength(1001);
  });
}
