import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { World } from './world.ts';

/** SPEC's annotation table by row. Copied metadata is in M7, the deletion policy in R3 and R4. */
export function annotationsSuite(server: TestServer): void {
  const targets: Record<string, { asks: (world: World) => Record<string, string>; reaches: string[] }> = {
    'names, and blanks and empty items do not count': {
      asks: (world) => ({ 'target-namespaces': ` ${world.full('team-a')} ,, ${world.full('qa')},` }),
      reaches: ['qa', 'team-a'],
    },
    'a prefix': {
      asks: (world) => ({ 'target-namespaces': world.full('team-*') }),
      reaches: ['team-a', 'team-secret'],
    },
    'every namespace': {
      asks: () => ({ 'target-namespaces': '*' }),
      reaches: ['home', 'qa', 'team-a', 'team-secret'],
    },
    'a prefix but for a name': {
      asks: (world) => ({ 'target-namespaces': `!${world.full('team-secret')}, ${world.full('team-*')}` }),
      reaches: ['team-a'],
    },
    'everything but for a prefix': {
      asks: (world) => ({ 'target-namespaces': `*, !${world.full('team-*')}` }),
      reaches: ['home', 'qa'],
    },
    'a selector': {
      asks: () => ({ 'target-namespace-selector': 'env in (dev,qa),!frozen' }),
      reaches: ['qa', 'team-a'],
    },
    'a selector united with a list, and exclusions from both': {
      asks: (world) => ({
        'target-namespaces': `${world.full('home')}, !${world.full('qa')}`,
        'target-namespace-selector': 'env',
      }),
      reaches: ['home', 'team-a', 'team-secret'],
    },
    'a selector, and exclusions alone': {
      asks: (world) => ({
        'target-namespaces': `!${world.full('team-*')}`,
        'target-namespace-selector': 'env!=prod',
      }),
      reaches: ['home', 'qa'],
    },
  };
  for (const [what, { asks, reaches }] of Object.entries(targets)) {
    test.concurrent(`[M2] targets: ${what}`, async () => {
      await using world = await World.open(server);
      await world.createNamespace('qa', { labels: { env: 'qa' } });
      await world.createNamespace('team-a', { labels: { env: 'dev' } });
      await world.createNamespace('team-secret', { labels: { env: 'dev', frozen: '' } });
      const controller = world.start();
      await world.createSource({ asks: asks(world) });
      for (const namespace of reaches) await world.companion(`${namespace}/colors-synced`, 'home/colors');
      await world.settle(controller, { namespaces: true });
      expect(await world.managed('home', 'qa', 'team-a', 'team-secret')).toEqual(
        ['home/colors', ...reaches.map((namespace) => `${namespace}/colors-synced`)].sort(),
      );
    });
  }

  const names: Record<string, (world: World) => string> = {
    '{name}-synced': () => 'colors-synced',
    '{namespace}-{name}': (world) => `${world.full('home')}-colors`,
    'the.one': () => 'the.one',
    '{name}.{name}': () => 'colors.colors',
  };
  for (const [template, name] of Object.entries(names)) {
    test.concurrent(`[M1] companion-name ${template}`, async () => {
      await using world = await World.open(server);
      world.start();
      await world.createSource({ asks: { 'companion-name': template } });
      await world.companion(`home/${name(world)}`, 'home/colors');
    });
  }

  test.concurrent('[R13] a companion that would be the source itself is refused', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    const source = await world.createSource({ asks: { 'companion-name': '{name}' } });
    await world.settle(controller);
    expect(await world.configMap('home/colors')).toEqual(source);
    expect(controller.log.told).toContainEqual(
      expect.objectContaining({ level: 'warn', source: world.full('home/colors') }),
    );
  });

  test.concurrent('[M2] with the source’s own name, all targets get a companion except the source’s namespace', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const asks = { 'companion-name': '{name}', 'target-namespaces': '*' };
    const source = await world.createSource({ asks });
    await world.companion('team-a/colors', 'home/colors');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('home/colors')).toEqual(source);
  });

  const data = { 'app.yaml': '1', 'b.json': '2', 'c.json': '3', plain: '4' };
  const binaryData = { 'd.json': 'AAAA', 'e.bin': '/w==' };
  const keys: { asks: Record<string, string>; kept: string[] }[] = [
    { asks: { 'include-keys': 'app.yaml, *.json' }, kept: ['app.yaml', 'b.json', 'c.json', 'd.json'] },
    { asks: { 'exclude-keys': '*.json' }, kept: ['app.yaml', 'plain', 'e.bin'] },
    { asks: { 'include-keys': '*.json', 'exclude-keys': 'c*' }, kept: ['b.json', 'd.json'] },
    { asks: { 'include-keys': '*p*' }, kept: ['app.yaml', 'plain'] },
  ];
  for (const { asks, kept } of keys) {
    test.concurrent(`[M3] ${JSON.stringify(asks)} copies ${kept.join(' ')}`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await world.createSource({ data, binaryData, asks });
      const picked = (entries: Record<string, string>) =>
        Object.fromEntries(Object.entries(entries).filter(([key]) => kept.includes(key)));
      const wanted = { data: picked(data), binaryData: picked(binaryData) };
      const companion = await world.companion('home/colors-synced', 'home/colors', wanted);
      // A key that is not copied may change.
      const other = Object.keys(data).find((key) => !kept.includes(key)) ?? 'more';
      await world.person.patch(world.full('home/colors'), { data: { [other]: 'new' } });
      await world.settle(controller);
      expect(await world.configMap('home/colors-synced')).toEqual(companion);
      await world.ask('home/colors', { 'include-keys': null, 'exclude-keys': null });
      await world.companion('home/colors-synced', 'home/colors');
    });
  }

  test.concurrent('[V1] renamed keys have their new names in every companion, and the old ones go', async () => {
    await using world = await World.open(server, ['team-a']);
    world.start();
    const targets = { 'target-namespaces': world.full('*') };
    await world.createSource({ data, binaryData, asks: { ...targets, 'exclude-keys': '*.json' } });
    const kept = { data: { 'app.yaml': '1', plain: '4' }, binaryData: { 'e.bin': '/w==' } };
    await world.companion('team-a/colors-synced', 'home/colors', kept);
    await world.ask('home/colors', { 'rename-keys': 'app.yaml=plain, plain=app.yaml, e.bin=b.json' });
    const wanted = { data: { plain: '1', 'app.yaml': '4' }, binaryData: { 'b.json': '/w==' } };
    await world.companion('team-a/colors-synced', 'home/colors', wanted);
    await world.companion('home/colors-synced', 'home/colors', wanted);
    await world.ask('home/colors', { 'rename-keys': null });
    await world.companion('team-a/colors-synced', 'home/colors', kept);
  });

  for (const renames of ['nowhere=x', 'app.yaml=plain', 'b.json=x', '']) {
    test.concurrent(`[V1] rename-keys "${renames}" is invalid: companions stay and it is reported`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await world.createSource({ data, asks: { 'exclude-keys': 'b.json' } });
      const { 'b.json': _, ...kept } = data;
      const companion = await world.companion('home/colors-synced', 'home/colors', { data: kept });
      await world.ask('home/colors', { 'rename-keys': renames });
      await world.person.patch(world.full('home/colors'), { data: { plain: 'new' } });
      await world.settle(controller);
      expect(await world.configMap('home/colors-synced')).toEqual(companion);
      expect(controller.log.told).toContainEqual(
        expect.objectContaining({ level: 'warn', reason: expect.stringContaining('rename-keys: ') }),
      );
    });
  }

  for (const asks of [{ 'include-keys': 'none.such' }, { 'exclude-keys': '*' }]) {
    test.concurrent(`[R13] ${JSON.stringify(asks)} selects no key: companions stay and it is reported`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await world.createSource({ data });
      const companion = await world.companion('home/colors-synced', 'home/colors');
      await world.ask('home/colors', asks);
      await world.person.patch(world.full('home/colors'), { data: { plain: 'new' } });
      await world.settle(controller);
      expect(await world.configMap('home/colors-synced')).toEqual(companion);
      expect(controller.log.told).toContainEqual(
        expect.objectContaining({ level: 'warn', reason: expect.stringContaining(Object.keys(asks).join()) }),
      );
      await world.ask('home/colors', { 'include-keys': null, 'exclude-keys': null });
      await world.companion('home/colors-synced', 'home/colors');
    });
  }

  test.concurrent('[M1] only a ConfigMap with the label value true is a source', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    for (const value of ['True', 'yes', 'false', '']) {
      await world.person.create({
        metadata: {
          name: `labelled-${value.toLowerCase()}x`,
          namespace: world.full('home'),
          labels: world.ours({ managed: value }),
        },
      });
    }
    await world.settle(controller);
    const all = await world.managed('home');
    expect(all.filter((key) => key.endsWith('-synced'))).toEqual([]);
    const [first] = all;
    await world.person.patch(world.full(first ?? ''), {
      metadata: { labels: world.ours({ managed: 'true' }) },
    });
    await world.companion(`${first}-synced`, first ?? '');
  });
}
