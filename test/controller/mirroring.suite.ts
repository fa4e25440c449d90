import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { expectedCompanion, factsOf } from './expected-companion.ts';
import { World } from './world.ts';

/** SPEC's M: what a companion is. */
export function mirroringSuite(server: TestServer): void {
  test.concurrent('[M1] a source has exactly one companion, beside it and owned by it', async () => {
    await using world = await World.open(server, ['other']);
    const controller = world.start();
    await world.createSource();
    await world.companion('home/colors-synced', 'home/colors');
    await world.settle(controller);
    expect(await world.managed('home', 'other')).toEqual(['home/colors', 'home/colors-synced']);
  });

  test.concurrent('[M1] a companion with policy retain has no owner', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ asks: { 'deletion-policy': 'retain' } });
    const companion = await world.companion('home/colors-synced', 'home/colors', { retained: true });
    expect(companion.metadata.ownerReferences).toBeUndefined();
  });

  test.concurrent('[M2] a source with targets has companions there, without an owner, and none beside it', async () => {
    await using world = await World.open(server, ['team-a', 'team-b', 'else']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-*') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.companion('team-b/colors-synced', 'home/colors');
    await world.settle(controller, { namespaces: true });
    expect(await world.managed('home', 'team-a', 'team-b', 'else')).toEqual([
      'home/colors',
      'team-a/colors-synced',
      'team-b/colors-synced',
    ]);
  });

  test.concurrent('[M2] a source’s own namespace gets a companion if it matches, owned by the source', async () => {
    await using world = await World.open(server, ['team-a']);
    world.start();
    await world.createSource({
      asks: { 'target-namespaces': `${world.full('home')}, ${world.full('team-a')}` },
    });
    await world.companion('home/colors-synced', 'home/colors');
    await world.companion('team-a/colors-synced', 'home/colors');
  });

  test.concurrent('[M2] a namespace that starts to match gets a companion, one that stops loses it', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({
      asks: {
        'target-namespaces': `!${world.full('team-secret')}`,
        'target-namespace-selector': 'env in (dev,qa)',
      },
    });
    await world.createNamespace('team-secret', { labels: { env: 'dev' } });
    await world.createNamespace('team-a', { labels: { env: 'qa' } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.person.patchNamespace(world.full('team-a'), { metadata: { labels: { env: 'prod' } } });
    await world.gone('team-a/colors-synced');
    await world.settle(controller, { namespaces: true });
    expect(await world.managed('team-a', 'team-secret')).toEqual([]);
  });

  test.concurrent('[M3] the companion follows data and binaryData byte for byte, and is never immutable', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({
      data: { 'app.yaml': 'a: 1\r\n\tb: "ü"\0', empty: '' },
      binaryData: { blob: Buffer.from([0, 255, 10, 13]).toString('base64') },
    });
    await world.companion('home/colors-synced', 'home/colors');
    await world.person.patch(world.full('home/colors'), {
      data: { 'app.yaml': null, other: 'new' },
      binaryData: { blob: null },
      immutable: true,
    });
    const companion = await world.companion('home/colors-synced', 'home/colors');
    expect(companion.immutable).toBeUndefined();
  });

  test.concurrent('[M4] the checksum depends on the content alone', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({ name: 'one', data: { b: '2', a: '1' } });
    await world.createSource({ name: 'two', data: { a: '1', b: '2' } });
    await world.createSource({ name: 'odd', data: { a: '1;b=2' } });
    const one = await world.companion('home/one-synced', 'home/one');
    const two = await world.companion('home/two-synced', 'home/two');
    const odd = await world.companion('home/odd-synced', 'home/odd');
    const sum = (object: typeof one) => object.metadata.annotations?.[`${world.domain}/source-checksum`];
    expect(sum(one)).toBe(sum(two));
    expect(sum(one)).not.toBe(sum(odd));
  });

  const tampered: Record<string, (world: World) => object> = {
    'its data': () => ({ data: { sky: 'red' } }),
    'its binaryData': () => ({ binaryData: { more: 'AAAA' } }),
    'its owner reference': () => ({ metadata: { ownerReferences: null } }),
    'the convention label': () => ({ metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } }),
    'its checksum': (world) => ({ metadata: { annotations: world.ours({ 'source-checksum': 'ff' }) } }),
    'data and checksum alike': (world) => ({
      data: { sky: 'red' },
      metadata: { annotations: world.ours({ 'source-checksum': 'ff' }) },
    }),
  };
  for (const [what, patch] of Object.entries(tampered)) {
    test.concurrent(`[M5] a hand edit of ${what} is healed`, async () => {
      await using world = await World.open(server);
      const controller = world.start();
      await world.createSource();
      const { metadata } = await world.companion('home/colors-synced', 'home/colors');
      await world.settle(controller);
      await world.person.patch(world.full('home/colors-synced'), patch(world));
      const healed = await world.companion('home/colors-synced', 'home/colors');
      expect(healed.metadata.uid).toBe(metadata.uid);
    });
  }

  test.concurrent('[M5] a deleted companion is recreated', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource();
    const { metadata } = await world.companion('home/colors-synced', 'home/colors');
    await world.person.delete(world.full('home/colors-synced'));
    const healed = await world.companion('home/colors-synced', 'home/colors');
    expect(healed.metadata.uid).not.toBe(metadata.uid);
  });

  test.concurrent('[M5] labels, annotations, owners and finalizers that others put on a companion stay', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    const source = await world.createSource();
    await world.companion('home/colors-synced', 'home/colors');
    const owner = await world.person.create({
      metadata: { name: 'owner', namespace: world.full('home') },
    });
    const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    await world.person.edit(world.full('home/colors-synced'), (companion) => ({
      ...companion,
      data: { sky: 'red' },
      metadata: {
        ...companion.metadata,
        labels: { ...companion.metadata.labels, team: 'x' },
        annotations: { ...companion.metadata.annotations, note: 'mine' },
        ownerReferences: [...(companion.metadata.ownerReferences ?? []), foreign],
        finalizers: ['example.com/hold'],
      },
    }));
    await world.settle(controller);
    const healed = await world.configMap('home/colors-synced');
    const key = world.full('home/colors-synced');
    const expected = expectedCompanion({
      domain: world.domain,
      source,
      key,
      labels: { team: 'x' },
      annotations: { note: 'mine' },
    });
    if (healed === undefined) throw new Error('the companion is gone');
    const { owners, ...facts } = factsOf(healed);
    expect([...owners].sort()).toEqual(
      [...expected.owners, `v1 ConfigMap owner ${owner.metadata.uid} false false`].sort(),
    );
    expect(facts).toEqual({ ...expected, owners: undefined });
    expect(healed.metadata.finalizers).toEqual(['example.com/hold']);
    await world.person.patch(key, { metadata: { finalizers: null } });
  });

  test.concurrent('[M5] [R12] a companion made immutable by hand stays so until its content must change, and keeps what others put on it', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource();
    const { metadata } = await world.companion('home/colors-synced', 'home/colors');
    const kept = { labels: { team: 'x' }, annotations: { note: 'mine' } };
    const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    await world.person.patch(world.full('home/colors-synced'), {
      metadata: { ...kept, annotations: { ...kept.annotations, ...lastApplied } },
      immutable: true,
    });
    await world.person.patch(world.full('home/colors-synced'), {
      metadata: { labels: { 'app.kubernetes.io/managed-by': null } },
    });
    await world.settle(controller);
    const annotations = { ...kept.annotations, ...lastApplied };
    const left = await world.companion('home/colors-synced', 'home/colors', { ...kept, annotations });
    expect([left.metadata.uid, left.immutable]).toEqual([metadata.uid, true]);
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    // Without kubectl's last-applied annotation, which is not remembered.
    const replaced = await world.companion('home/colors-synced', 'home/colors', kept);
    expect(replaced.metadata.uid).not.toBe(metadata.uid);
    expect(replaced.immutable).toBeUndefined();
  });

  test.concurrent('[M6] a companion that somebody labels as a source is healed, not mirrored', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await world.createSource({
      asks: { 'target-namespaces': `${world.full('home')},${world.full('team-a')}` },
    });
    for (const companion of ['home/colors-synced', 'team-a/colors-synced']) {
      await world.companion(companion, 'home/colors');
      await world.person.patch(world.full(companion), {
        metadata: { labels: world.ours({ managed: 'true' }) },
      });
      await world.companion(companion, 'home/colors');
    }
    await world.settle(controller, { namespaces: true });
    expect(await world.managed('home', 'team-a')).toEqual([
      'home/colors',
      'home/colors-synced',
      'team-a/colors-synced',
    ]);
  });

  test.concurrent('[M7] requested metadata is copied, never that of the deny list, and removed when no longer requested', async () => {
    await using world = await World.open(server);
    world.start();
    await world.createSource({
      labels: {
        team: 'red',
        tier: 'web',
        'app.kubernetes.io/instance': 'shop',
        'app.kubernetes.io/managed-by': 'Helm',
      },
      annotations: {
        'example.com/a': '1',
        'example.com/b': '2',
        'argocd.argoproj.io/tracking-id': 'x',
        'meta.helm.sh/release-name': 'x',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'helm.toolkit.fluxcd.io/name': 'x',
        'kustomize.toolkit.fluxcd.io/name': 'x',
      },
      asks: { 'copy-labels': '*', 'copy-annotations': '*' },
    });
    const list = (labels: string[], annotations: string[]) =>
      world.ours({ 'copied-metadata': JSON.stringify({ labels, annotations }) });
    await world.companion('home/colors-synced', 'home/colors', {
      labels: { team: 'red', tier: 'web' },
      annotations: {
        'example.com/a': '1',
        'example.com/b': '2',
        ...list(['team', 'tier'], ['example.com/a', 'example.com/b']),
      },
    });
    await world.ask('home/colors', { 'copy-labels': 't*m', 'copy-annotations': 'example.com/b' });
    await world.companion('home/colors-synced', 'home/colors', {
      labels: { team: 'red' },
      annotations: { 'example.com/b': '2', ...list(['team'], ['example.com/b']) },
    });
    await world.ask('home/colors', { 'copy-labels': null, 'copy-annotations': null });
    await world.companion('home/colors-synced', 'home/colors');
  });

  test.concurrent('[M8] the controller never writes to a source', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const asks = { 'target-namespaces': world.full('team-a'), 'companion-name': '{name}' };
    const { metadata } = await world.createSource({ asks });
    await world.createSource({ name: 'bad', asks: { 'deletion-policy': 'keep' } });
    await world.companion('team-a/colors', 'home/colors');
    await world.settle(controller, { namespaces: true });
    const after = await world.configMap('home/colors');
    expect(after?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test.concurrent('[M9] nothing is written when nothing differs', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    await world.companion('team-a/colors-synced', 'home/colors');
    const touched = await world.person.patch(world.full('team-a/colors-synced'), {
      metadata: { labels: { team: 'x' } },
    });
    await world.person.patch(world.full('home/colors'), { metadata: { labels: { team: 'x' } } });
    await world.person.patchNamespace(world.full('team-a'), { metadata: { labels: { team: 'x' } } });
    await world.settle(controller, { namespaces: true });
    const after = await world.configMap('team-a/colors-synced');
    expect(after?.metadata.resourceVersion).toBe(touched.metadata.resourceVersion);
  });
}
