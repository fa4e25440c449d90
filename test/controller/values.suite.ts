// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of others must pass untouched
import { readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import type { WrittenConfigMap } from './person.ts';
import type { RunningController } from './running-controller.ts';
import { World } from './world.ts';

/** Edits in a row, each of which would cause a pass or more. */
const ROUNDS = 20;
const EVERYWHERE = { 'target-namespaces': '*' };

/** SPEC's V2 to V5; V1 is in the suite of the annotations. */
export function valuesSuite(server: TestServer): void {
  test.concurrent('[V2] [V3] the recipe of docs/values.md: values beside a source, and a fitting companion in each namespace', async () => {
    await using world = await World.open(server, ['team-c', 'other']);
    const controller = world.start();
    await label(world, 'home', { tier: 'base' });
    await world.createNamespace('team-a', { labels: { tier: 'gold' } });
    await world.createNamespace('team-b', { labels: { tier: 'iron' } });
    for (const object of recipe(world)) await world.person.create(object);
    const follows = (namespace: string, title: string, tier: string) => {
      const database = `postgres.${world.full(namespace)}.svc`;
      const text = `title: ${title}\nlevel: info\ndatabase: ${database}\ntier: ${tier}\n`;
      return world.companion(`${namespace}/app-synced`, 'home/app', { data: { 'options.yaml': text } });
    };
    await follows('home', 'Workshop', 'base');
    await follows('team-a', 'Workshop', 'gold');
    await follows('team-b', 'Workshop', 'iron');
    await world.person.patch(world.full('home/options'), { data: { title: 'Garden' } });
    await label(world, 'team-b', { tier: 'silver' });
    await follows('home', 'Garden', 'base');
    await follows('team-a', 'Garden', 'gold');
    await follows('team-b', 'Garden', 'silver');
    // It has no label `tier`.
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-c/app-synced')).toBeUndefined();
    await world.person.delete(world.full('home/app'));
    for (const name of ['home', 'team-a', 'team-b']) await world.gone(`${name}/app-synced`);
    await world.settle(controller, { namespaces: true });
    expect(await world.managed('home', 'team-a', 'team-b', 'team-c', 'other')).toEqual(['home/options']);
  });

  test.concurrent('[V2] [V4] a label of the namespace is filled in, and a namespace without it gets nothing', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createNamespace('team-a', { labels: { tier: 'gold' } });
    await world.createNamespace('team-b', { labels: { tier: 'iron', 'example.com/zone': 'x' } });
    const asks = { 'target-namespaces': world.full('team-*'), 'render-keys': '*' };
    await world.createSource({ data: { a: '$(mirror.label.tier)!' }, asks });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { a: 'gold!' } });
    const before = await world.companion('team-b/colors-synced', 'home/colors', { data: { a: 'iron!' } });
    await label(world, 'team-a', { tier: 'silver' });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { a: 'silver!' } });
    await label(world, 'team-b', { tier: null });
    await world.createNamespace('team-c');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-b/colors-synced')).toEqual(before);
    expect(await world.configMap('team-c/colors-synced')).toBeUndefined();
    await reports(controller, world, /in .*team-b.*: a: \$\(mirror\.label\.tier\): the namespace has no/);
    // Neither a tampered companion nor a deleted one is touched, since nobody knows what is right.
    const edited = await world.person.patch(world.full('team-b/colors-synced'), { data: { a: 'mine' } });
    await world.person.patch(world.full('home/colors'), { data: { a: '$(mirror.label.tier)?' } });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { a: 'silver?' } });
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('team-b/colors-synced')).toEqual(edited);
    await label(world, 'team-b', { tier: 'tin' });
    await label(world, 'team-c', { tier: '' });
    await world.companion('team-b/colors-synced', 'home/colors', { data: { a: 'tin?' } });
    await world.companion('team-c/colors-synced', 'home/colors', { data: { a: '?' } });
  });

  test.concurrent('[V2] labels of the source’s own namespace are filled in without targets', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ data: { a: '$(mirror.label.tier)' }, asks: { 'render-keys': 'a' } });
    await world.createSource({ name: 'plain' });
    await world.companion('home/plain-synced', 'home/plain');
    expect(await world.configMap('home/colors-synced')).toBeUndefined();
    for (const tier of ['gold', 'iron']) {
      await label(world, 'home', { tier });
      await world.companion('home/colors-synced', 'home/colors', { data: { a: tier } });
    }
  });

  test.concurrent('[V2] other syntax, binary keys and keys that are not named pass untouched', async () => {
    await using world = await World.open(server);
    world.start();
    const data = {
      'run.sh': '#!/bin/sh\necho $(hostname) ${HOME:-x} $$(mirror.namespace) $(mirror.x\r\n) \\$(date)\n',
      'java.properties': 'a=${b}\\\n  #{c} $(mirror .namespace) $(mirror)',
      'helm.yaml': '{{ .Values.x | default "$(mirror" }} ${var:=$(x)} $(MIRROR.namespace)',
      plain: '$(mirror.namespace)',
    };
    const binaryData = { 'b.sh': Buffer.from('$(mirror.namespace)').toString('base64') };
    await world.createSource({ data, binaryData, asks: { 'render-keys': '*.*, nowhere*' } });
    await world.companion('home/colors-synced', 'home/colors', {
      data: { ...data, 'run.sh': data['run.sh'].replace('$(mirror.namespace)', () => world.full('home')) },
      binaryData,
    });
  });

  test.concurrent('[V1] [V2] render-keys names keys as companions have them', async () => {
    await using world = await World.open(server);
    world.start();
    const asks = { 'rename-keys': 'a=b, b=a', 'render-keys': 'b', 'exclude-keys': 'c' };
    const text = '$(mirror.source-namespace)';
    await world.createSource({ data: { a: text, b: text, c: text }, asks });
    await world.companion('home/colors-synced', 'home/colors', { data: { b: world.full('home'), a: text } });
  });

  test.concurrent('[V3] later values win, and what is filled in is not looked at again', async () => {
    await using world = await World.open(server);
    world.start();
    await values(world, 'defaults', { a: '1', b: '$(mirror.value.a)' });
    await values(world, 'options', { a: '2' });
    const asks = { 'render-keys': '*', 'values-from': 'defaults, options' };
    const data = { k: '$(mirror.value.a) $(mirror.value.b)' };
    await world.createSource({ data, asks });
    await world.companion('home/colors-synced', 'home/colors', { data: { k: '2 $(mirror.value.a)' } });
    await world.ask('home/colors', { 'values-from': 'options,defaults' });
    await world.companion('home/colors-synced', 'home/colors', { data: { k: '1 $(mirror.value.a)' } });
  });

  const losses: Record<string, { lose: (world: World) => Promise<unknown>; reason: RegExp }> = {
    'a values ConfigMap that is deleted': {
      lose: (world) => world.person.delete(world.full('home/options')),
      reason: /no ConfigMap .*home\/options labelled .*\/managed=values/,
    },
    'a values ConfigMap that loses its label': {
      lose: (world) => world.unlabel('home/options'),
      reason: /no ConfigMap .*home\/options labelled .*\/managed=values/,
    },
    'a values ConfigMap that becomes a source': {
      lose: (world) => setLabel(world, 'home/options', 'true'),
      reason: /no ConfigMap .*home\/options labelled .*\/managed=values/,
    },
    'a key that is gone': {
      lose: (world) => world.person.patch(world.full('home/options'), { data: { title: null } }),
      reason: /a: \$\(mirror\.value\.title\): no such key in ConfigMap .*home\/options/,
    },
    'a key that is binary now': {
      lose: (world) =>
        world.person.patch(world.full('home/options'), {
          data: { title: null },
          binaryData: { title: 'AA==' },
        }),
      reason: /a: \$\(mirror\.value\.title\): it is binary in ConfigMap .*home\/options/,
    },
    'a value that does not fit': {
      lose: (world) =>
        world.person.patch(world.full('home/options'), { data: { title: 'x'.repeat(600 * 1024) } }),
      reason: /a: the rendered content has \d+ bytes, more than the 1048576 of a ConfigMap/,
    },
    'values-from that is gone': {
      lose: (world) => world.ask('home/colors', { 'values-from': null }),
      reason: /a: \$\(mirror\.value\.title\): the source has no .*\/values-from/,
    },
    'one more values ConfigMap that does not exist': {
      lose: (world) => world.ask('home/colors', { 'values-from': 'options,none' }),
      reason: /no ConfigMap .*home\/none labelled/,
    },
    'a placeholder of an unknown kind': {
      lose: (world) => world.person.patch(world.full('home/colors'), { data: { a: '$(mirror.nmespace)' } }),
      reason: /a: \$\(mirror\.nmespace\): it is not a placeholder; there are namespace, /,
    },
  };
  for (const [what, { lose, reason }] of Object.entries(losses)) {
    test.concurrent(`[V4] ${what} leaves companions as they are, and is reported`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await values(world, 'options', { title: 'Garden' });
      const asks = { 'render-keys': '*', 'values-from': 'options' };
      const data = { a: '$(mirror.value.title) $(mirror.value.title)' };
      await world.createSource({ data, asks });
      const before = await world.companion('home/colors-synced', 'home/colors', {
        data: { a: 'Garden Garden' },
      });
      await lose(world);
      await reports(controller, world, reason);
      await world.settle(controller);
      expect(await world.configMap('home/colors-synced')).toEqual(before);
      await setLabel(world, 'home/options', 'values');
      await values(world, 'options', { title: 'Park' });
      await world.ask('home/colors', { 'values-from': 'options' });
      await world.person.patch(world.full('home/colors'), { data });
      await world.companion('home/colors-synced', 'home/colors', { data: { a: 'Park Park' } });
      expect(JSON.stringify(controller.log.lines)).not.toMatch(/Garden|Park/);
    });
  }

  test.concurrent('[V5] an edit that no placeholder uses reconciles nothing', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await values(world, 'used', { a: '1' });
    await values(world, 'unused', { a: '1' });
    await values(world, 'listed', { a: '1' });
    const asks = { 'target-namespaces': world.full('team-*'), 'render-keys': '*' };
    const data = { k: '$(mirror.label.tier) $(mirror.value.a)' };
    await label(world, 'team-a', { tier: 'gold' });
    await world.createSource({ data, asks: { ...asks, 'values-from': 'used' } });
    const withoutValues = { data: { k: '$(mirror.namespace)' }, asks: { ...asks, 'values-from': 'listed' } };
    await world.createSource({ name: 'listing', ...withoutValues });
    await world.createSource({ name: 'plain', asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { k: 'gold 1' } });
    // Barriers cause passes of their own, not always as many.
    const passesOf = async (change: (round: number) => Promise<unknown>) => {
      await world.settle(controller, { namespaces: true });
      const before = controller.passes();
      for (let round = 0; round < ROUNDS; round += 1) await change(round);
      await world.settle(controller, { namespaces: true });
      return controller.passes() - before;
    };
    const most = (await passesOf(async () => undefined)) + ROUNDS / 2;
    const a = (round: number) => ({ a: `${round}` });
    expect(await passesOf((round) => label(world, 'team-a', { other: `${round}` }))).toBeLessThan(most);
    expect(await passesOf((round) => values(world, 'unused', a(round)))).toBeLessThan(most);
    expect(await passesOf((round) => values(world, 'listed', a(round)))).toBeLessThan(most);
    const used = async (round: number) => {
      await values(world, 'used', a(round));
      await world.companion('team-a/colors-synced', 'home/colors', { data: { k: `gold ${round}` } });
    };
    expect(await passesOf(used)).toBeGreaterThan(ROUNDS);
    await label(world, 'team-a', { tier: 'iron' });
    await values(world, 'used', { a: '2' });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { k: 'iron 2' } });
  });

  test.concurrent('[V5] [M5] [M9] rendered companions are healed to the rendered content, and a restart writes nothing', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await values(world, 'options', { title: 'Garden' });
    const asks = { ...EVERYWHERE, 'render-keys': '*', 'values-from': 'options' };
    await world.createSource({ data: { a: '$(mirror.value.title) $(mirror.namespace)' }, asks });
    const wanted = { data: { a: `Garden ${world.full('team-a')}` } };
    await world.companion('team-a/colors-synced', 'home/colors', wanted);
    await world.person.patch(world.full('team-a/colors-synced'), { data: { a: 'mine', b: 'c' } });
    await world.companion('team-a/colors-synced', 'home/colors', wanted);
    await world.person.patch(world.full('team-a/colors-synced'), { immutable: true });
    await values(world, 'options', { title: 'Park' });
    const later = { data: { a: `Park ${world.full('team-a')}` } };
    const replaced = await world.companion('team-a/colors-synced', 'home/colors', later);
    await world.settle(controller, { namespaces: true });
    await controller.stop();
    // Values that change while nobody watches are noticed, and nothing else is written.
    const again = world.start({ 'source-cache-size': '0' });
    await world.settle(again, { namespaces: true });
    expect(await world.configMap('team-a/colors-synced')).toEqual(replaced);
    await again.stop();
    await values(world, 'options', { title: 'Wood' });
    world.start();
    await world.companion('team-a/colors-synced', 'home/colors', {
      data: { a: `Wood ${world.full('team-a')}` },
    });
  });

  test.concurrent('[D7] [V5] new values do not wait for the source to be quiet', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await values(world, 'options', { title: 'Garden' });
    const asks = { 'render-keys': '*', 'values-from': 'options', settle: '1h' };
    await world.createSource({ data: { a: '$(mirror.value.title)' }, asks });
    await world.companion('home/colors-synced', 'home/colors', { data: { a: 'Garden' } });
    await values(world, 'options', { title: 'Park' });
    const before = await world.companion('home/colors-synced', 'home/colors', { data: { a: 'Park' } });
    // With content of the source that waits, they wait too.
    await world.person.patch(world.full('home/colors'), { data: { a: 'in $(mirror.value.title)' } });
    await values(world, 'options', { title: 'Wood' });
    await world.settle(controller);
    expect(await world.configMap('home/colors-synced')).toEqual(before);
    await world.ask('home/colors', { settle: null });
    await world.companion('home/colors-synced', 'home/colors', { data: { a: 'in Wood' } });
  });

  test.concurrent('[V3] values are never mirrored, never changed, and take no companion’s name', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await values(world, 'colors-synced', { a: '1' });
    const before = await world.configMap('home/colors-synced');
    await world.createSource({ asks: EVERYWHERE });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.settle(controller, { namespaces: true });
    expect(await world.configMap('home/colors-synced')).toEqual(before);
    await reports(controller, world, /a ConfigMap with this name exists and is not managed/);
    // A companion stays one, whatever label somebody puts on it.
    await setLabel(world, 'team-a/colors-synced', 'values');
    await world.companion('team-a/colors-synced', 'home/colors');
  });

  for (const [annotation, value] of Object.entries({
    'render-keys': '',
    'values-from': ' , ',
  })) {
    test.concurrent(`[V1] [R13] an empty ${annotation} is invalid: companions stay and it is reported`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await world.createSource();
      const before = await world.companion('home/colors-synced', 'home/colors');
      await world.ask('home/colors', { [annotation]: value });
      await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
      await reports(controller, world, new RegExp(`${annotation}: empty; name`));
      expect(await world.configMap('home/colors-synced')).toEqual(before);
    });
  }
}

/** The manifests of docs/values.md, in `home` instead of `shop`. */
function recipe(world: World): readonly WrittenConfigMap[] {
  const manual = readFileSync(new URL('../../docs/values.md', import.meta.url), 'utf8');
  const [, manifests = ''] = /```yaml\n(.*?)```/s.exec(manual) ?? [];
  const here = manifests
    .replaceAll('namespace: shop', `namespace: ${world.full('home')}`)
    .replaceAll('shop, team-*', `${world.full('home')}, ${world.full('team-*')}`)
    .replaceAll('workshop.io/', `${world.domain}/`);
  return loadAll(here) as WrittenConfigMap[];
}

/** Creates a ConfigMap with values in `home`, or edits it. */
async function values(world: World, name: string, data: StringMap): Promise<void> {
  const key = world.full(`home/${name}`);
  if ((await world.person.configMap(key)) !== undefined) {
    await world.person.edit(key, ({ binaryData: _, ...there }) => ({ ...there, data }));
    return;
  }
  const labels = world.ours({ managed: 'values' });
  await world.person.create({ metadata: { namespace: world.full('home'), name, labels }, data });
}

/** Puts the label back on values that lost it. */
async function setLabel(world: World, key: string, value: string): Promise<void> {
  if ((await world.configMap(key)) === undefined) return;
  await world.person.patch(world.full(key), { metadata: { labels: world.ours({ managed: value }) } });
}

async function label(world: World, namespace: string, labels: Readonly<Record<string, string | null>>) {
  await world.person.patchNamespace(world.full(namespace), { metadata: { labels } });
}

async function reports(controller: RunningController, world: World, reason: RegExp): Promise<void> {
  const matches = ({ level, ...fields }: RunningController['log']['lines'][number]) =>
    level === 'warn' && reason.test(String(fields['reason']));
  await waitFor(() => controller.log.lines.some(matches), {
    deadlineMs: 20_000,
    describe: () => `a report like ${reason}; ${world.whatWasLogged()}`,
  });
}
