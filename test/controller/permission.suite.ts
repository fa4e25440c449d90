import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { fastClock } from './fast-clock.ts';
import { World } from './world.ts';

/** SPEC P1-P3: where companions may be. `rights.control-plane.test.ts` tests the rights. */
export function permissionSuite(server: TestServer): void {
  test.concurrent('[P1] companions are written across namespaces only where it is allowed and not denied', async () => {
    await using world = await World.open(server, ['team-a', 'team-b', 'other']);
    const controller = world.start({
      'allow-target-namespaces': world.full('team-*'),
      'deny-target-namespaces': world.full('team-b'),
    });
    await world.createSource({
      asks: { 'target-namespaces': ['team-*', 'home', 'other'].map((name) => world.full(name)).join() },
    });
    await world.companion('team-a/colors-synced', 'home/colors');
    // Its own namespace needs no permission.
    await world.companion('home/colors-synced', 'home/colors');
    await world.settle(controller);
    expect(await world.managed('team-b', 'other')).toEqual([]);
  });

  test.concurrent('[P1] kube-* is denied by default', async () => {
    await using world = await World.open(server, ['team-a']);
    const controller = world.start({ 'allow-target-namespaces': `kube-*,${world.full('*')}` });
    await world.createSource({
      asks: { 'companion-name': world.full('x'), 'target-namespaces': `kube-*,${world.full('team-a')}` },
    });
    const name = world.full('x');
    await world.companion(`team-a/${name}`, 'home/colors');
    await world.settle(controller);
    expect(await world.person.configMap(`kube-system/${name}`)).toBeUndefined();
    expect(await world.person.configMap(`kube-public/${name}`)).toBeUndefined();
  });

  test.concurrent('[P1] a companion in a namespace that is now denied is not deleted', async () => {
    await using world = await World.open(server, ['team-a']);
    const first = world.start();
    await world.createSource({ asks: { 'target-namespaces': world.full('team-a') } });
    const before = await world.companion('team-a/colors-synced', 'home/colors');
    await first.stop();
    const controller = world.start({ 'deny-target-namespaces': world.full('team-a') });
    await world.person.patch(world.full('home/colors'), { data: { sky: 'grey' } });
    await world.settle(controller);
    await world.person.delete(world.full('home/colors'));
    await world.settle(controller);
    expect(await world.configMap('team-a/colors-synced')).toEqual(before);
  });

  test.concurrent('[P2] with --namespaces no other namespace has sources or companions', async () => {
    await using world = await World.open(server, ['team-a', 'outside']);
    const namespaces = `${world.full('home')},${world.full('team-a')}`;
    const controller = world.start({ namespaces });
    await world.createSource({ in: 'outside', asks: { 'target-namespaces': world.full('team-a') } });
    await world.createSource({ name: 'inside', asks: { 'target-namespaces': world.full('*') } });
    await world.companion('team-a/inside-synced', 'home/inside');
    await world.companion('home/inside-synced', 'home/inside');
    await world.settle(controller);
    expect(await world.managed('outside', 'team-a')).toEqual(['outside/colors', 'team-a/inside-synced']);
  });

  test.concurrent('[P2] with --namespaces a namespace’s labels and consent are read again every 30 s', async () => {
    await using world = await World.open(server, ['team-a']);
    const namespaces = `${world.full('home')},${world.full('team-a')}`;
    const controller = world.start({ namespaces }, { clock: fastClock(20) });
    await world.createSource({ asks: { 'target-namespace-selector': 'env=dev' } });
    await world.settle(controller);
    const team = world.full('team-a');
    await world.person.patchNamespace(team, { metadata: { labels: { env: 'dev' } } });
    await world.companion('team-a/colors-synced', 'home/colors');
    await world.person.patchNamespace(team, {
      metadata: { annotations: world.ours({ 'accept-mirrors-from': '' }) },
    });
    await world.gone('team-a/colors-synced');
  });

  const consents: { says?: string; flag?: string; accepted: boolean }[] = [
    { accepted: true },
    { flag: 'true', accepted: false },
    { says: '', accepted: false },
    { says: 'HOME', accepted: true },
    { says: 'HOME', flag: 'true', accepted: true },
    { says: 'other, PREFIX*', flag: 'true', accepted: true },
    { says: '*', flag: 'true', accepted: true },
    { says: 'other', accepted: false },
    { says: '!HOME', accepted: false },
    { says: '*, ^home$', accepted: false },
  ];
  for (const { says, flag = 'false', accepted } of consents) {
    const said = says === undefined ? 'nothing' : `"${says}"`;
    const verdict = accepted ? 'accepts' : 'refuses';
    test.concurrent(`[P3] a namespace that says ${said} ${verdict} (--require-consent=${flag})`, async () => {
      await using world = await World.open(server, ['witness']);
      const words = says?.replace('HOME', world.full('home')).replace('PREFIX', world.place.prefix);
      const consent = world.ours({ 'accept-mirrors-from': '*' });
      await world.person.patchNamespace(world.full('witness'), { metadata: { annotations: consent } });
      await world.createNamespace('team-a', {
        annotations: words === undefined ? {} : world.ours({ 'accept-mirrors-from': words }),
      });
      const controller = world.start({ 'require-consent': flag });
      const namespaces = ['home', 'team-a', 'witness'].map((name) => world.full(name)).join();
      await world.createSource({ asks: { 'target-namespaces': namespaces } });
      await world.companion('witness/colors-synced', 'home/colors');
      // A source's own namespace needs no consent.
      await world.companion('home/colors-synced', 'home/colors');
      await world.settle(controller);
      expect(await world.managed('team-a')).toEqual(accepted ? ['team-a/colors-synced'] : []);
    });
  }

  for (const policy of ['delete', 'retain']) {
    test.concurrent(`[P3] [R4] a companion is deleted when consent is withdrawn (deletion-policy ${policy}), and recreated with it`, async () => {
      await using world = await World.open(server, ['team-a']);
      world.start();
      const asks = { 'target-namespaces': world.full('team-a'), 'deletion-policy': policy };
      const retained = policy === 'retain';
      await world.createSource({ asks });
      await world.companion('team-a/colors-synced', 'home/colors', { retained });
      const say = (words: string | null) =>
        world.person.patchNamespace(world.full('team-a'), {
          metadata: { annotations: { [`${world.domain}/accept-mirrors-from`]: words } },
        });
      await say('somebody-else');
      await world.gone('team-a/colors-synced');
      await say(null);
      await world.companion('team-a/colors-synced', 'home/colors', { retained });
    });
  }

  const fates: Record<string, (world: World) => Promise<unknown>> = {
    narrowed: (world) => world.ask('home/colors', { 'target-namespaces': world.full('home') }),
    unlabelled: (world) => world.unlabel('home/colors'),
    deleted: (world) => world.person.delete(world.full('home/colors')),
  };
  for (const [what, change] of Object.entries(fates)) {
    for (const where of ['running', 'down']) {
      test.concurrent(`[P3] a companion retained when its source was ${what} is deleted when consent is withdrawn (controller ${where})`, async () => {
        await using world = await World.open(server, ['team-a']);
        const controller = world.start();
        const asks = { 'target-namespaces': world.full('team-a'), 'deletion-policy': 'retain' };
        await world.createSource({ asks });
        const kept = await world.companion('team-a/colors-synced', 'home/colors', { retained: true });
        await change(world);
        await world.settle(controller, { namespaces: true });
        expect(await world.configMap('team-a/colors-synced')).toEqual(kept);
        if (where === 'down') await controller.stop();
        await world.person.patchNamespace(world.full('team-a'), {
          metadata: { annotations: world.ours({ 'accept-mirrors-from': '' }) },
        });
        if (where === 'down') {
          await world.person.delete(world.full('home/barrier-namespace'));
          world.start();
        }
        await world.gone('team-a/colors-synced');
      });
    }
  }

  const stuck: Record<string, (world: World) => Promise<unknown>> = {
    'waits for a finalizer': (world) => world.person.delete(world.full('home/colors')),
    'is invalid': (world) => world.ask('home/colors', { 'target-namespaces': '' }),
  };
  for (const [what, change] of Object.entries(stuck)) {
    test.concurrent(`[P3] a companion is deleted when consent is withdrawn while its source ${what}`, async () => {
      await using world = await World.open(server, ['team-a', 'team-b']);
      const controller = world.start();
      const asks = { 'target-namespaces': world.full('team-*') };
      await world.createSource({ asks });
      const finalizers = (names: readonly string[]) =>
        world.person.patch(world.full('home/colors'), { metadata: { finalizers: names } });
      await world.companion('team-a/colors-synced', 'home/colors');
      const other = await world.companion('team-b/colors-synced', 'home/colors');
      await finalizers(['example.com/held']);
      await change(world);
      await world.person.patchNamespace(world.full('team-a'), {
        metadata: { annotations: world.ours({ 'accept-mirrors-from': '' }) },
      });
      await world.gone('team-a/colors-synced');
      await world.settle(controller, { namespaces: true });
      expect(await world.configMap('team-b/colors-synced')).toEqual(other);
      await finalizers([]);
    });
  }
}
