import { expect, test } from 'vitest';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { ask, short } from '../inspect/ask.ts';
import type { TestServer } from '../support/servers/server.ts';
import { edit, keeps, revisionOf, shortOf } from './rolling.ts';
import { World } from './world.ts';

/** Contents as sources and revisions have them: unrendered. */
const FIRST = { k: 'first for $(mirror.namespace)' };
const SECOND = { k: 'second for $(mirror.label.tier)' };
const THIRD = { k: 'third for $(mirror.value.title)' };

const MANUAL = { canary: 'tier=qa-tier', 'canary-bake': 'manual' };

/** SPEC D4 to D6 with V2 to V5: revisions hold what is not rendered, companions what is. */
export function renderedRolloutsSuite(server: TestServer): void {
  async function open(asks: StringMap) {
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
    const controller = world.start();
    await holds(world, 'team-a', FIRST, `first for ${world.full('team-a')}`);
    await holds(world, 'qa', FIRST, `first for ${world.full('qa')}`);
    return { world, controller };
  }

  /** Waits until a companion holds a content, rendered as `text`. */
  const holds = (world: World, namespace: string, content: StringMap, text: string, marks: StringMap = {}) =>
    world.companion(`${namespace}/colors-synced`, 'home/colors', {
      data: { k: text },
      annotations: world.ours({ 'rendered-from': shortOf(content), ...marks }),
    });

  test.concurrent('[D5] [V2] a pinned revision is rendered for each namespace, and follows labels and values', async () => {
    await using world = (await open({})).world;
    await edit(world, SECOND);
    await holds(world, 'team-a', SECOND, 'second for team-a-tier');
    await holds(world, 'qa', SECOND, 'second for qa-tier');
    const history = await ask(world, ['history', world.full('home/colors'), '-o', 'json']);
    const rows: { readonly companions: number }[] = JSON.parse(history.out);
    expect(rows.map(({ companions }) => companions)).toEqual([2, 0]);
    await edit(world, { k: 'nothing to render' });
    await world.companion('team-a/colors-synced', 'home/colors', { data: { k: 'nothing to render' } });
    await keeps(world, FIRST, SECOND, { k: 'nothing to render' });
    await world.ask('home/colors', { pin: shortOf(SECOND) });
    await holds(world, 'team-a', SECOND, 'second for team-a-tier');
    await holds(world, 'qa', SECOND, 'second for qa-tier');
    await world.person.patchNamespace(world.full('qa'), { metadata: { labels: { tier: 'gold' } } });
    await holds(world, 'qa', SECOND, 'second for gold');
    await world.ask('home/colors', { pin: shortOf(FIRST) });
    await holds(world, 'qa', FIRST, `first for ${world.full('qa')}`);
    await edit(world, THIRD);
    await world.ask('home/colors', { pin: null });
    await holds(world, 'qa', THIRD, 'third for Garden');
    await edit(world, SECOND);
    await holds(world, 'qa', SECOND, 'second for gold');
    await world.ask('home/colors', { pin: shortOf(THIRD) });
    await holds(world, 'qa', THIRD, 'third for Garden');
    await world.person.patch(world.full('home/options'), { data: { title: 'Park' } });
    await holds(world, 'qa', THIRD, 'third for Park');
  });

  test.concurrent('[D6] [V5] a canary gets new content rendered, the others keep the previous one rendered', async () => {
    const opened = await open(MANUAL);
    await using world = opened.world;
    await edit(world, SECOND);
    await holds(world, 'qa', SECOND, 'second for qa-tier');
    await holds(world, 'team-a', FIRST, `first for ${world.full('team-a')}`);
    const { out } = await ask(world, ['status', world.full('home/colors'), '-o', 'json']);
    expect(JSON.parse(short(world, out)).map(({ state }: { state: string }) => state)).toEqual([
      'in sync',
      'waiting',
    ]);
    // Drift is healed to what each should hold.
    await world.person.patch(world.full('team-a/colors-synced'), { data: { k: 'mine' } });
    await holds(world, 'team-a', FIRST, `first for ${world.full('team-a')}`);
    await world.ask('home/colors', { 'canary-approve': shortOf(SECOND) });
    await holds(world, 'team-a', SECOND, 'second for team-a-tier');
    // A bad verdict counts for the content that it was set on, however that is rendered now.
    await edit(world, THIRD);
    await holds(world, 'qa', THIRD, 'third for Garden');
    await opened.controller.stop();
    await world.person.patch(world.full('qa/colors-synced'), {
      metadata: { annotations: world.ours({ verdict: 'bad' }) },
    });
    await world.person.patch(world.full('home/options'), { data: { title: 'Park' } });
    world.start();
    const failed = { 'canary-failed': shortOf(THIRD) };
    await holds(world, 'qa', SECOND, 'second for qa-tier', failed);
    await holds(world, 'team-a', SECOND, 'second for team-a-tier');
  });

  test.concurrent('[D6] [V3] companions that keep the former content follow values and labels', async () => {
    const opened = await open(MANUAL);
    await using world = opened.world;
    const former = { k: 'former for $(mirror.value.title) at $(mirror.label.tier)' };
    await edit(world, former);
    await world.ask('home/colors', { 'canary-approve': shortOf(former) });
    await holds(world, 'team-a', former, 'former for Garden at team-a-tier');
    await edit(world, THIRD);
    await holds(world, 'qa', THIRD, 'third for Garden');
    await world.person.patch(world.full('home/options'), { data: { title: 'Park' } });
    await holds(world, 'qa', THIRD, 'third for Park');
    await holds(world, 'team-a', former, 'former for Park at team-a-tier');
    const tier = (name: string) => ({ metadata: { labels: { tier: name } } });
    await world.person.patchNamespace(world.full('team-a'), tier('gold'));
    await holds(world, 'team-a', former, 'former for Park at gold');
    // It holds none of the kept contents as they are rendered now, and yet nothing is missing.
    await world.person.patch(world.full('qa/colors-synced'), {
      metadata: { annotations: world.ours({ verdict: 'bad' }) },
    });
    const failed = { 'canary-failed': shortOf(THIRD) };
    await holds(world, 'qa', former, 'former for Park at qa-tier', failed);
    await world.person.patch(world.full('home/options'), { data: { title: 'Wood' } });
    await holds(world, 'qa', former, 'former for Wood at qa-tier', failed);
    await holds(world, 'team-a', former, 'former for Wood at gold');
    // Only a content that is not kept any more is left as it is: an older one would be a step back.
    await world.person.delete(world.full(revisionOf(former)));
    await keeps(world, FIRST, THIRD);
    await world.person.patch(world.full('home/options'), { data: { title: 'Lake' } });
    await world.settle(opened.controller, { namespaces: true });
    await holds(world, 'team-a', former, 'former for Wood at gold');
    await holds(world, 'qa', former, 'former for Wood at qa-tier', failed);
  });
}
