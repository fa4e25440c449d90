import { expect, test } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { TestServer } from '../support/servers/server.ts';
import { World } from './world.ts';

/** SPEC R1-R5 and R10-R13: how the actual state becomes the desired one. */
export function reconcilingSuite(server: TestServer): void {
  test.concurrent('[R1] only the last state counts', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource();
    for (let round = 0; round < 10; round += 1) {
      await world.person.patch(world.full('home/colors'), { data: { sky: `${round}` } });
      if (round % 3 === 0) await world.unlabel('home/colors');
      if (round % 3 === 1) await world.person.delete(world.full('home/colors-synced'));
      await world.person.patch(world.full('home/colors'), {
        metadata: { labels: world.ours({ managed: 'true' }) },
      });
    }
    await world.companion('home/colors-synced', 'home/colors');
    await world.unlabel('home/colors');
    await world.gone('home/colors-synced');
    await world.settle(controller);
    expect(await world.managed('home')).toEqual(['home/colors']);
  });

  test.concurrent('[R3] companions are deleted with their source, the one beside it by garbage collection', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await world.createSource({
      asks: { 'target-namespaces': `${world.full('home')},${world.full('team-a')}` },
    });
    await world.companion('home/colors-synced', 'home/colors');
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-a/colors-synced');
    await world.gone('home/colors-synced');
    await world.settle(controller);
    expect(
      controller.log.told.filter((line) => line['companion'] === world.full('home/colors-synced')),
    ).toEqual([expect.objectContaining({ message: 'companion created' })]);
  });

  test.concurrent('[R3] a companion that has lost its owner reference is deleted with its source, too', async () => {
    await using world = await World.open(server);
    const first = world.start();
    await world.createSource();
    await world.companion('home/colors-synced', 'home/colors');
    await first.stop();
    await world.person.patch(world.full('home/colors-synced'), { metadata: { ownerReferences: null } });
    await world.person.delete(world.full('home/colors'));
    expect(await world.configMap('home/colors-synced')).toBeDefined();
    world.start();
    await world.gone('home/colors-synced');
  });

  test.concurrent('[R3] [R4] retained companions stay exactly as they are, and are adopted when the source returns', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const source = {
      asks: {
        'deletion-policy': 'retain',
        'target-namespaces': `${world.full('home')},${world.full('team-a')}`,
      },
    };
    await world.createSource(source);
    const keys = ['home/colors-synced', 'team-a/colors-synced'];
    const before: ConfigMap[] = [];
    for (const key of keys) before.push(await world.companion(key, 'home/colors', { retained: true }));
    await world.person.delete(world.full('home/colors'));
    await world.settle(controller, { namespaces: true });
    for (const [index, key] of keys.entries()) expect(await world.configMap(key)).toEqual(before[index]);
    await world.createSource({ ...source, data: { sky: 'new' } });
    for (const [index, key] of keys.entries()) {
      const adopted = await world.companion(key, 'home/colors', { retained: true });
      expect(adopted.metadata.uid).toBe(before[index]?.metadata.uid);
    }
  });

  test.concurrent('[R3] a source that is being deleted gets nothing created or updated', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    const before = await world.companion('team-a/colors-synced', 'home/colors');
    const key = world.full('home/colors');
    await world.person.patch(key, { metadata: { finalizers: ['example.com/hold'] } });
    await world.person.delete(key);
    await world.person.patch(key, { data: { sky: 'late' } });
    // The two kinds have separate watches. The deletion must arrive before the namespace.
    await world.settle(controller);
    await world.createNamespace('team-b');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
    expect(await world.managed('team-b')).toEqual([]);
    await world.person.patch(key, { metadata: { finalizers: null } });
    await world.gone('team-a/colors-synced');
  });

  const changes: Record<string, (world: World) => Promise<unknown>> = {
    unlabelled: (world) => world.unlabel('home/colors'),
    narrowed: (world) =>
      world.ask('home/colors', { 'target-namespaces': `${world.full('*')},!${world.full('team-a')}` }),
    'told another companion name': (world) => world.ask('home/colors', { 'companion-name': '{name}-copy' }),
    'no longer sent elsewhere': (world) => world.ask('home/colors', { 'target-namespaces': null }),
    deleted: (world) => world.person.delete(world.full('home/colors')),
  };
  for (const [what, change] of Object.entries(changes)) {
    for (const policy of ['delete', 'retain']) {
      for (const where of ['running', 'down']) {
        const fate = policy === 'retain' ? 'stays, retained' : 'goes';
        const rules = where === 'down' ? '[R4] [R5]' : '[R4]';
        test.concurrent(`${rules} the source is ${what}: its companion ${fate} (controller ${where})`, () =>
          noLongerAsksForIt(server, change, { retained: policy === 'retain', down: where === 'down' }));
      }
    }
  }

  test.concurrent('[R4] a policy changed in the same edit that unlabels the source counts', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    for (const name of ['keep', 'drop']) {
      const policy = name === 'keep' ? 'delete' : 'retain';
      await world.createSource({ name, asks: { 'deletion-policy': policy } });
      await world.companion(`home/${name}-synced`, `home/${name}`, { retained: name === 'drop' });
    }
    const keep = await world.source('home/keep');
    for (const name of ['keep', 'drop']) {
      await world.person.patch(world.full(`home/${name}`), {
        metadata: {
          labels: { [`${world.domain}/managed`]: null },
          annotations: world.ours({ 'deletion-policy': name === 'keep' ? 'retain' : 'delete' }),
        },
      });
    }
    await world.gone('home/drop-synced');
    await world.companion('home/keep-synced', 'home/keep', { retained: true });
    await world.person.delete(world.full('home/keep'));
    await world.settle(controller);
    await world.companion('home/keep-synced', keep, { retained: true });
  });

  test.concurrent('[R4] a policy changed in the same edit that narrows the targets counts, also after the source is gone', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const both = `${world.full('home')},${world.full('team-a')}`;
    await world.createSource({ asks: { 'target-namespaces': both } });
    const companions = ['home/colors-synced', 'team-a/colors-synced'];
    for (const key of companions) await world.companion(key, 'home/colors');
    await world.ask('home/colors', { 'target-namespaces': world.full('none'), 'deletion-policy': 'retain' });
    for (const key of companions) await world.companion(key, 'home/colors', { retained: true });
    const source = await world.source('home/colors');
    await world.person.delete(world.full('home/colors'));
    await world.settle(controller, { namespaces: true });
    for (const key of companions) await world.companion(key, source, { retained: true });
    await world.createSource({ asks: { 'target-namespaces': both } });
    for (const key of companions) await world.companion(key, 'home/colors');
  });

  test.concurrent('[R5] the controller catches up on edits, deletes and creates that it missed while it was down', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const first = world.start();
    const asks = { 'target-namespaces': world.full('team-*') };
    await world.createSource({ name: 'edited', asks });
    await world.createSource({ name: 'kept', asks });
    for (const name of ['edited', 'kept']) {
      await world.companion(`team-a/${name}-synced`, `home/${name}`);
      await world.companion(`team-b/${name}-synced`, `home/${name}`);
    }
    await first.stop();
    await world.person.patch(world.full('home/edited'), { data: { sky: 'grey' } });
    await world.person.delete(world.full('team-a/kept-synced'));
    await world.person.patch(world.full('team-b/kept-synced'), { data: { sky: 'red' } });
    await world.createSource({ name: 'new', asks });
    await world.createNamespace('team-c');
    world.start();
    for (const name of ['edited', 'kept', 'new']) {
      for (const team of ['team-a', 'team-b', 'team-c']) {
        await world.companion(`${team}/${name}-synced`, `home/${name}`);
      }
    }
  });

  test.concurrent('[R10] a terminating namespace is left alone, without a warning', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.companion('team-b/colors-synced', 'home/colors');
    // Something with a finalizer keeps the namespace terminating while the rest of it is removed.
    const held = {
      metadata: { name: 'held', namespace: world.full('team-a'), finalizers: ['example.com/hold'] },
    };
    await world.person.create(held);
    await world.person.deleteNamespace(world.full('team-a'));
    await world.gone('team-a/colors-synced');
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toBeUndefined();
    expect(controller.log.told.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    await world.person.patch(world.full('team-a/held'), { metadata: { finalizers: null } });
  });

  test.concurrent('[R10] the controller waits quietly for a companion blocked by a finalizer', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource();
    await world.companion('home/colors-synced', 'home/colors');
    const key = world.full('home/colors-synced');
    await world.person.patch(key, { metadata: { finalizers: ['example.com/hold'] } });
    await world.person.delete(key);
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.settle(controller);
    expect((await world.configMap('home/colors-synced'))?.data).toEqual({ sky: 'blue' });
    await world.person.patch(key, { metadata: { finalizers: null } });
    await world.companion('home/colors-synced', 'home/colors');
    expect(controller.log.told.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  test.concurrent('[R11] companions of a source recreated while the controller was down are adopted in place', async () => {
    await using world = await World.open(server, ['team-a']);
    const first = world.start();
    const asks = { 'target-namespaces': world.full('team-a') };
    await world.createSource({ asks });
    const before = await world.companion('team-a/colors-synced', 'home/colors');
    await first.stop();
    await world.person.delete(world.full('home/colors'));
    await world.createSource({ asks, data: { sky: 'new' } });
    world.start();
    const after = await world.companion('team-a/colors-synced', 'home/colors');
    expect(after.metadata.uid).toBe(before.metadata.uid);
  });

  test.concurrent('[R11] a source recreated again and again has its companions in the end', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const asks = { 'target-namespaces': world.full('*') };
    for (let round = 0; round < 5; round += 1) {
      await world.createSource({ asks, data: { round: String(round) } });
      await world.companion('home/colors-synced', 'home/colors');
      await world.person.delete(world.full('home/colors'));
    }
    await world.createSource({ asks });
    for (let look = 0; look < 2; look += 1) {
      await world.companion('home/colors-synced', 'home/colors');
      await world.companion('team-a/colors-synced', 'home/colors');
      await world.settle(controller, { namespaces: true });
    }
  });

  const malformed: Record<string, string> = {
    'target-namespaces': '^team-.*$',
    'target-namespace-selector': 'env in dev',
    'companion-name': '{team}-x',
    'include-keys': '',
    'exclude-keys': 'a b',
    'rename-keys': '',
    'copy-labels': '(x)',
    'copy-annotations': 'a b',
    'deletion-policy': 'Delete',
  };
  for (const [annotation, value] of Object.entries(malformed)) {
    test.concurrent(`[R13] a bad ${annotation} changes nothing that exists and is reported once`, async () => {
      await using world = await World.open(server, ['team-a', 'team-b']);
      const controller = world.start();
      await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
      const before = await world.companion('team-a/colors-synced', 'home/colors');
      await world.ask('home/colors', { 'target-namespaces': world.full('team-*'), [annotation]: value });
      await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
      await world.settle(controller, { namespaces: true });
      expect(await world.configMap('team-a/colors-synced')).toEqual(before);
      expect(await world.managed('home', 'team-b')).toEqual(['home/colors']);
      expect(controller.log.told.filter(({ level }) => level === 'warn')).toEqual([
        expect.objectContaining({
          source: world.full('home/colors'),
          reason: expect.stringContaining(`${world.domain}/${annotation}: `),
        }),
      ]);
      await world.ask('home/colors', { [annotation]: null, 'target-namespaces': world.full('team-a') });
      await world.companion('team-a/colors-synced', 'home/colors');
    });
  }
}

async function noLongerAsksForIt(
  server: TestServer,
  change: (world: World) => Promise<unknown>,
  { retained, down }: { readonly retained: boolean; readonly down: boolean },
): Promise<void> {
  await using world = await World.open(server, ['team-a']);
  const policy = retained ? 'retain' : 'delete';
  let controller = world.start();
  await world.createSource({ asks: { 'target-namespaces': world.full('*'), 'deletion-policy': policy } });
  const before = await world.companion('team-a/colors-synced', 'home/colors', { retained });
  if (down) await controller.stop();
  await change(world);
  if (down) controller = world.start();
  if (!retained) await world.gone('team-a/colors-synced');
  await world.settle(controller, { namespaces: true });
  expect(await world.configMap('team-a/colors-synced')).toEqual(retained ? before : undefined);
}
