import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectedCompanion } from './expected-companion.ts';
import { fastClock } from './fast-clock.ts';
import { World } from './world.ts';

/** SPEC R6-R8 and R14: which objects are ours, and who gets a name. */
export function ownershipSuite(server: TestServer): void {
  test.concurrent('[R6] an unrelated object at the name is not touched, and other namespaces are not affected', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const foreign = await world.person.create({
      metadata: { name: 'colors-synced', namespace: world.full('team-a') },
      data: { mine: 'yes' },
    });
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.settle(controller, { namespaces: true });
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-b/colors-synced');
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(foreign);
    expect(controller.log.told.map((line) => [line.message, line['companion']])).toContainEqual([
      'companion in conflict',
      world.full('team-a/colors-synced'),
    ]);
  });

  test.concurrent('[R6] the companion appears within 30 s after the object at its name is gone', async () => {
    await using world = await World.open(server);
    const blocker = { name: 'colors-synced', namespace: world.full('home') };
    await world.person.create({ metadata: blocker });
    const controller = world.start({}, { clock: fastClock(5) });
    await world.createSource();
    await world.settle(controller);
    await world.person.delete(world.full('home/colors-synced'));
    await waitFor(() => world.configMap('home/colors-synced'), { deadlineMs: 30_000 / 5 });
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[R6] an unrelated object with our label is seen to go', async () => {
    await using world = await World.open(server);
    await world.person.create({
      metadata: {
        name: 'colors-synced',
        namespace: world.full('home'),
        labels: world.ours({ managed: 'companion' }),
      },
    });
    const controller = world.start();
    await world.createSource();
    await world.settle(controller);
    expect((await world.configMap('home/colors-synced'))?.metadata.annotations).toBeUndefined();
    await world.person.delete(world.full('home/colors-synced'));
    await world.companion('home/colors-synced', 'home/colors');
  });

  type Stripped = readonly ('managed' | 'source' | 'source-uid' | 'companion')[];
  const patchOf = (world: World, marks: Stripped) => ({
    metadata: {
      labels: marks.includes('managed') ? { [`${world.domain}/managed`]: null } : {},
      annotations: Object.fromEntries(
        marks.filter((mark) => mark !== 'managed').map((mark) => [`${world.domain}/${mark}`, null]),
      ),
    },
  });

  for (const marks of [['managed'], ['source'], ['source-uid'], ['companion']] as Stripped[]) {
    for (const where of ['running', 'down']) {
      test.concurrent(`[R6] the mark ${marks} stripped by hand is healed (controller ${where})`, async () => {
        await using world = await World.open(server, ['team-a']);
        const controller = world.start();
        await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
        const { metadata } = await world.companion('team-a/colors-synced', 'home/colors');
        if (where === 'down') await controller.stop();
        await world.person.patch(world.full('team-a/colors-synced'), patchOf(world, marks));
        if (where === 'down') world.start();
        const healed = await world.companion('team-a/colors-synced', 'home/colors');
        expect(healed.metadata.uid).toBe(metadata.uid);
      });
    }
  }

  test.concurrent('[R6] a companion with two marks stripped is left alone', async () => {
    await using world = await World.open(server, ['team-a']);
    const first = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await first.stop();
    const stripped = await world.person.patch(world.full('team-a/colors-synced'), {
      data: { sky: 'mine' },
      ...patchOf(world, ['managed', 'source']),
    });
    const controller = world.start();
    await world.settle(controller, { namespaces: true });
    await world.person.delete(world.full('home/colors'));
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toEqual(stripped);
  });

  test.concurrent('[R6] a companion of the workshop’s Go controller, known by its owner reference, is adopted', async () => {
    await using world = await World.open(server);
    const { metadata } = await world.createSource();
    const old = await world.person.create({
      metadata: {
        name: 'colors-synced',
        namespace: world.full('home'),
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: 'colors',
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      data: { sky: 'old' },
    });
    world.start();
    const adopted = await world.companion('home/colors-synced', 'home/colors');
    expect(adopted.metadata.uid).toBe(old.metadata.uid);
  });

  test.concurrent('[R6] an object with the companion label that no source claims is left alone', async () => {
    await using world = await World.open(server, ['team-a']);
    const orphan = await world.person.create({
      metadata: {
        name: 'left',
        namespace: world.full('team-a'),
        labels: world.ours({ managed: 'companion' }),
      },
    });
    const controller = world.start();
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-a/left')).toEqual(orphan);
  });

  test.concurrent('[R7] of two sources the one that has the name keeps it, and the other gets it afterwards', async () => {
    await using world = await World.open(server, ['a', 'z', 'team']);
    const asks = { 'target-namespaces': world.full('team'), 'companion-name': 'shared' };
    const controller = world.start();
    await world.createSource({ in: 'z', asks, data: { from: 'z' } });
    await world.companion('team/shared', 'z/colors');
    await world.createSource({ in: 'a', asks, data: { from: 'a' } });
    await world.settle(controller, { namespaces: true });
    await world.companion('team/shared', 'z/colors');
    expect(controller.log.told.map((line) => [line.message, line['source']])).toContainEqual([
      'companion in conflict',
      world.full('a/colors'),
    ]);
    await world.person.patch(world.full('z/colors'), { data: { from: 'z again' } });
    await world.companion('team/shared', 'z/colors');
    await world.person.delete(world.full('z/colors'));
    await world.companion('team/shared', 'a/colors');
  });

  test.concurrent('[R7] a free name goes to the oldest source, then by namespace and name', async () => {
    await using world = await World.open(server, ['a', 'b', 'team']);
    const asks = { 'target-namespaces': world.full('team'), 'companion-name': 'shared' };
    const second = await world.createSource({ in: 'b', name: 'x', asks });
    const third = await world.createSource({ in: 'b', name: 'y', asks });
    const first = await world.createSource({ in: 'a', name: 'z', asks });
    const age = ({ metadata }: ConfigMap) =>
      `${metadata.creationTimestamp} ${metadata.namespace} ${metadata.name}`;
    const order = [second, third, first].sort((one, other) => (age(one) < age(other) ? -1 : 1));
    world.start({}, { clock: fastClock(10) });
    for (const source of order) {
      await world.companion('team/shared', source);
      await world.person.delete(`${source.metadata.namespace}/${source.metadata.name}`);
    }
    await world.gone('team/shared');
  });

  test.concurrent('[R8] a copy that somebody made of a companion is never healed or deleted', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const { metadata, data } = await world.companion('team-a/colors-synced', 'home/colors');
    const { labels = {}, annotations = {} } = metadata;
    const place = { name: 'colors-synced', namespace: world.full('team-b') };
    const copy = await world.person.create({
      metadata: { ...place, labels, annotations },
      ...(data && { data }),
    });
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.ask('home/colors', { 'target-namespaces': world.full('team-*') });
    await world.settle(controller, { namespaces: true });
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-a/colors-synced');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-b/colors-synced')).toEqual(copy);
  });

  const rivals = [
    {
      name: 'edits it',
      undo: (world: World, key: string) => world.person.patch(key, { data: { sky: 'red' } }, 'rival'),
      fieldManager: 'rival',
    },
    {
      name: 'deletes it',
      undo: (world: World, key: string) => world.person.delete(key),
      fieldManager: 'unknown',
    },
  ];
  test.concurrent.for(rivals)(
    '[R14] a fight with a client that $name is slowed down, reported, and won in the end',
    async ({ undo, fieldManager }) => {
      await using world = await World.open(server);
      const controller = world.start({}, { clock: fastClock(10) });
      const source = await world.createSource();
      const key = world.full('home/colors-synced');
      await world.companion('home/colors-synced', 'home/colors');
      const right = expectedCompanion({ domain: world.domain, source, key }).data;
      const isRight = async () => (await world.person.configMap(key))?.data?.['sky'] === right['sky'];
      const report = expect.objectContaining({
        message: 'another client keeps changing this companion; backing off',
        fieldManager,
      });
      const isReported = () => controller.log.told.some((line) => report.asymmetricMatch(line));
      // The other client undoes each heal for 12 s on the controller's clock: 5 heals, then one
      // after 5 s. On a busy machine it goes on until the sixth.
      const end = performance.now() + 1_200;
      const isOver = () => performance.now() >= end && isReported();
      let heals = 0;
      while (!isOver()) {
        await undo(world, key);
        await waitFor(async () => isOver() || (await isRight()));
        if (await isRight()) heals += 1;
      }
      expect(heals).toBeGreaterThanOrEqual(5);
      expect(heals).toBeLessThanOrEqual(8);
      expect(controller.log.told).toContainEqual(report);
      await world.companion('home/colors-synced', 'home/colors');
    },
  );
}
