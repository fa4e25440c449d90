import { expect, test } from 'vitest';
import { isOlder } from '../../src/kube/api/resource-version.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { checksum } from './expected-companion.ts';
import { fastClock } from './fast-clock.ts';
import { BLUE, edit, GREEN, keeps, RED, revisionOf } from './rolling.ts';
import { World } from './world.ts';

/** SPEC D4: the contents of a source are kept. */
export function revisionsSuite(server: TestServer): void {
  test.concurrent('[D4] each content is kept beside the source, immutable and owned by it', async () => {
    await using world = await World.open(server, ['team-a']);
    world.start();
    const source = await world.createSource({
      data: { ...RED, other: 'x' },
      binaryData: { blob: 'AP8=' },
      asks: { 'keep-revisions': '2', 'exclude-keys': 'other', 'target-namespaces': world.full('team-a') },
    });
    await world.companion('team-a/colors-synced', source, { data: RED });
    const digest = checksum(RED, { blob: 'AP8=' });
    const revision = await world.source(`home/colors-rev-${digest.slice(0, 8)}`);
    expect(revision).toMatchObject({ data: RED, binaryData: { blob: 'AP8=' }, immutable: true });
    const { name, namespace, uid } = source.metadata;
    expect(revision.metadata).toMatchObject({
      labels: {
        [`${world.domain}/managed`]: 'revision',
        'app.kubernetes.io/managed-by': 'mirror-controller',
      },
      annotations: world.ours({
        source: `${namespace}/${name}`,
        'source-uid': uid,
        'source-checksum': digest,
        revision: '1',
      }),
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }],
    });
  });

  test.concurrent('[D4] a content is kept before the first companion gets it', async () => {
    await using world = await World.open(server, ['team-a', 'team-b']);
    world.start();
    await world.createSource({
      data: RED,
      asks: { 'keep-revisions': '5', 'target-namespaces': world.full('team-*') },
    });
    for (const data of [RED, GREEN, BLUE]) {
      await edit(world, data);
      for (const key of ['team-a/colors-synced', 'team-b/colors-synced']) {
        const companion = await world.companion(key, 'home/colors');
        const revision = await world.source(revisionOf(data));
        const [kept, held] = [revision.metadata.resourceVersion, companion.metadata.resourceVersion];
        expect(isOlder(kept, held)).toBe(true);
      }
    }
  });

  test.concurrent('[D4] a source that changes 100 times keeps its number, the newest', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({ data: { n: '0' }, asks: { 'keep-revisions': '3' } });
    const contents = Array.from({ length: 101 }, (_, n) => ({ n: String(n) }));
    for (const data of contents) {
      await edit(world, data);
      await world.companion('home/colors-synced', 'home/colors');
    }
    await world.settle(controller);
    await keeps(world, ...contents.slice(-4));
  });

  test.concurrent('[D4] a content that comes back is the newest again, and a restart writes nothing', async () => {
    await using world = await World.open(server);
    const first = world.start();
    await world.createSource({ data: RED, asks: { 'keep-revisions': '1' } });
    for (const data of [RED, GREEN, RED, BLUE]) {
      await edit(world, data);
      await world.companion('home/colors-synced', 'home/colors');
    }
    await keeps(world, RED, BLUE);
    await first.stop();
    const before = await world.source(revisionOf(RED));
    const second = world.start();
    await world.settle(second);
    expect(await world.configMap(revisionOf(RED))).toEqual(before);
  });

  test.concurrent('[D4] without the annotation all revisions go, and nothing else', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({ data: RED, asks: { 'keep-revisions': '5' } });
    await world.companion('home/colors-synced', 'home/colors');
    await edit(world, GREEN);
    await keeps(world, RED, GREEN);
    await world.ask('home/colors', { 'keep-revisions': null });
    await keeps(world);
    await world.settle(controller);
    await world.companion('home/colors-synced', 'home/colors');
    expect(await world.managed('home')).toEqual(['home/colors', 'home/colors-synced']);
  });

  test.concurrent('[D4] a revision that somebody deletes: that of the present content is kept again, another is gone', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({ data: RED, asks: { 'keep-revisions': '5' } });
    await world.companion('home/colors-synced', 'home/colors');
    await edit(world, GREEN);
    await keeps(world, RED, GREEN);
    await world.person.delete(world.full(revisionOf(GREEN)));
    await world.person.delete(world.full(revisionOf(RED)));
    await keeps(world, GREEN);
    await world.settle(controller);
    await keeps(world, GREEN);
    await world.companion('home/colors-synced', 'home/colors');
  });

  for (const [what, labelled] of [
    ['the watch does not show', false],
    ['the watch shows', true],
  ] as const) {
    test.concurrent(`[D4] companions stay while a revision’s name is taken by an object that ${what}`, async () => {
      await using world = await World.open(server);
      const controller = world.start({}, { clock: fastClock(50) });
      const asks = { 'keep-revisions': '5' };
      await world.createSource({ data: RED, asks });
      const before = await world.companion('home/colors-synced', 'home/colors');
      const [, name = ''] = revisionOf(GREEN).split('/');
      const foreign = await world.person.create({
        metadata: {
          name,
          namespace: world.full('home'),
          labels: labelled ? world.ours({ managed: 'revision' }) : {},
        },
        data: { mine: 'x' },
      });
      await edit(world, GREEN);
      await world.settle(controller);
      await waitFor(
        () =>
          controller.log.told.some(
            ({ message, ...fields }) =>
              message === 'revision cannot be written; companions stay as they are' &&
              fields['revision'] === world.full(revisionOf(GREEN)),
          ),
        { deadlineMs: 10_000 },
      );
      expect(await world.configMap('home/colors-synced')).toEqual(before);
      expect(await world.configMap(revisionOf(GREEN))).toEqual(foreign);
      await world.person.delete(world.full(revisionOf(GREEN)));
      await world.companion('home/colors-synced', 'home/colors');
      await keeps(world, RED, GREEN);
    });
  }

  test.concurrent('[D4] [R2] a revision whose create got no reply is not created twice, and companions follow', async () => {
    await using world = await World.open(server);
    await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
    const match = { method: 'POST', path: /\/configmaps/ } as const;
    const rule = proxy.inject({ match, fault: { kind: 'lost-reply' }, times: 2 });
    world.start({}, { cluster: { server: proxy.url } });
    await world.createSource({ data: RED, asks: { 'keep-revisions': '5' } });
    await world.companion('home/colors-synced', 'home/colors');
    expect(rule.hits()).toBe(2);
    await keeps(world, RED);
  });

  test.concurrent('[D4] [R3] revisions go with their source, and one of the same name begins anew', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start();
    const asks = { 'keep-revisions': '5', 'target-namespaces': world.full('team-a') };
    await world.createSource({ data: RED, asks });
    await world.companion('team-a/colors-synced', 'home/colors');
    await edit(world, GREEN);
    await keeps(world, RED, GREEN);
    await world.person.delete(world.full('home/colors'));
    await world.createSource({ data: GREEN, asks });
    await world.companion('team-a/colors-synced', 'home/colors');
    await keeps(world, GREEN);
    await world.person.delete(world.full('home/colors'));
    await world.gone('team-a/colors-synced');
    await keeps(world);
    await world.settle(controller, { namespaces: true });
  });

  test.concurrent('[D4] [M6] a revision is neither a source nor a companion, whatever its label says', async () => {
    await using world = await World.open(server);
    const controller = world.start();
    await world.createSource({ data: RED, asks: { 'keep-revisions': '5', 'deletion-policy': 'retain' } });
    await world.companion('home/colors-synced', 'home/colors', { retained: true });
    for (const managed of ['true', 'companion', 'else']) {
      await edit(world, managed === 'true' ? GREEN : { sky: managed });
      await world.companion('home/colors-synced', 'home/colors', { retained: true });
      await world.person.patch(world.full(revisionOf(RED)), {
        metadata: { labels: world.ours({ managed }) },
      });
      await world.settle(controller);
      const { data, metadata } = await world.source(revisionOf(RED));
      expect([data, metadata.ownerReferences?.length]).toEqual([RED, 1]);
      expect(await world.configMap(`${revisionOf(RED)}-synced`)).toBeUndefined();
    }
  });

  test.concurrent('[D4] [W1] a settled source with revisions costs no request', async () => {
    await using world = await World.open(server);
    await using proxy = await startFaultProxy({ upstream: world.place.access, tls: false });
    const controller = world.start(
      { resync: '1s' },
      { cluster: { server: proxy.url }, clock: fastClock(50) },
    );
    await world.createSource({ data: RED, asks: { 'keep-revisions': '5' } });
    await world.companion('home/colors-synced', 'home/colors');
    await world.settle(controller);
    const rule = proxy.inject({
      match: { method: ['GET', 'POST', 'PATCH', 'DELETE'], path: /\/configmaps\/.*colors/ },
      fault: { kind: 'status', code: 500 },
    });
    await world.settle(controller);
    await world.settle(controller);
    expect(rule.hits()).toBe(0);
  });
}
