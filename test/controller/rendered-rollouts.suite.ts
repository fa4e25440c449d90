import { expect, test } from 'vitest';
import { ask, short } from '../inspect/ask.ts';
import type { TestServer } from '../support/servers/server.ts';
import { edit, keeps, shortOf } from './rolling.ts';
import { World } from './world.ts';

/** Contents as sources and revisions have them: unrendered. */
const FIRST = { k: 'first for $(mirror.namespace)' };
const SECOND = { k: 'second for $(mirror.label.tier)' };
const THIRD = { k: 'third for $(mirror.value.title)' };

/** SPEC D4 to D6 with V2 to V5: revisions hold what is not rendered, companions what is. */
export function renderedRolloutsSuite(server: TestServer): void {
  async function open(asks: Readonly<Record<string, string>>): Promise<World> {
    const world = await World.open(server);
    for (const name of ['team-a', 'qa']) {
      await world.createNamespace(name, { labels: { tier: `${name}-tier` } });
    }
    const targets = `${world.full('team-a')},${world.full('qa')}`;
    const rollout = { 'keep-revisions': '5', 'render-keys': '*', 'values-from': 'options' };
    const labels = world.ours({ managed: 'values' });
    const metadata = { namespace: world.full('home'), name: 'options', labels };
    await world.person.create({ metadata, data: { title: 'Garden' } });
    await world.createSource({ data: FIRST, asks: { 'target-namespaces': targets, ...rollout, ...asks } });
    world.start();
    await holds(world, 'team-a', `first for ${world.full('team-a')}`);
    await holds(world, 'qa', `first for ${world.full('qa')}`);
    return world;
  }

  const holds = (world: World, namespace: string, text: string) =>
    world.companion(`${namespace}/colors-synced`, 'home/colors', { data: { k: text } });

  test.concurrent('[D5] [V2] a pinned revision is rendered for each namespace, and follows labels and values', async () => {
    await using world = await open({});
    await edit(world, SECOND);
    await holds(world, 'team-a', 'second for team-a-tier');
    await holds(world, 'qa', 'second for qa-tier');
    const history = await ask(world, ['history', world.full('home/colors'), '-o', 'json']);
    const rows: { readonly companions: number }[] = JSON.parse(history.out);
    expect(rows.map(({ companions }) => companions)).toEqual([2, 0]);
    await edit(world, { k: 'nothing to render' });
    await holds(world, 'team-a', 'nothing to render');
    await keeps(world, FIRST, SECOND, { k: 'nothing to render' });
    await world.ask('home/colors', { pin: shortOf(SECOND) });
    await holds(world, 'team-a', 'second for team-a-tier');
    await holds(world, 'qa', 'second for qa-tier');
    await world.person.patchNamespace(world.full('qa'), { metadata: { labels: { tier: 'gold' } } });
    await holds(world, 'qa', 'second for gold');
    await world.ask('home/colors', { pin: shortOf(FIRST) });
    await holds(world, 'qa', `first for ${world.full('qa')}`);
    await edit(world, THIRD);
    await world.ask('home/colors', { pin: null });
    await holds(world, 'qa', 'third for Garden');
    await edit(world, SECOND);
    await holds(world, 'qa', 'second for gold');
    await world.ask('home/colors', { pin: shortOf(THIRD) });
    await holds(world, 'qa', 'third for Garden');
    await world.person.patch(world.full('home/options'), { data: { title: 'Park' } });
    await holds(world, 'qa', 'third for Park');
  });

  test.concurrent('[D6] [V5] a canary gets new content rendered, the others keep the former one rendered', async () => {
    await using world = await open({ canary: 'tier=qa-tier', 'canary-bake': 'manual' });
    await edit(world, SECOND);
    await holds(world, 'qa', 'second for qa-tier');
    await holds(world, 'team-a', `first for ${world.full('team-a')}`);
    const { out } = await ask(world, ['status', world.full('home/colors'), '-o', 'json']);
    expect(JSON.parse(short(world, out)).map(({ state }: { state: string }) => state)).toEqual([
      'in sync',
      'waiting',
    ]);
    // Drift is healed to what each should hold.
    await world.person.patch(world.full('team-a/colors-synced'), { data: { k: 'mine' } });
    await holds(world, 'team-a', `first for ${world.full('team-a')}`);
    await world.ask('home/colors', { 'canary-approve': shortOf(SECOND) });
    await holds(world, 'team-a', 'second for team-a-tier');
    // A bad verdict counts for the content that it was set on, however that was rendered.
    await edit(world, THIRD);
    await holds(world, 'qa', 'third for Garden');
    await world.person.patch(world.full('qa/colors-synced'), {
      metadata: { annotations: world.ours({ verdict: 'bad' }) },
    });
    const failed = { annotations: world.ours({ 'canary-failed': shortOf(THIRD) }) };
    const data = { k: 'second for qa-tier' };
    await world.companion('qa/colors-synced', 'home/colors', { data, ...failed });
    await holds(world, 'team-a', 'second for team-a-tier');
  });
}
