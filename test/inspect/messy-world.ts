import { World } from '../controller/world.ts';
import type { TestServer } from '../support/servers/server.ts';

/** A world with a companion in each state, without a controller. */
export async function openMessyWorld(server: TestServer): Promise<World> {
  const world = await World.open(server, ['team-a', 'team-b', 'team-c']);
  const { person } = world;
  await world.createSource({
    asks: { 'target-namespaces': ['team-a', 'team-b', 'team-z'].map((name) => world.full(name)).join() },
    data: { sky: 'blue', sea: 'green' },
  });
  await world.createSource({
    name: 'kept',
    asks: { 'target-namespaces': world.full('team-a'), 'deletion-policy': 'retain' },
  });
  await world.createSource({ name: 'dropped', asks: { 'target-namespaces': world.full('team-b') } });
  await world.createSource({ name: 'bad', asks: { 'target-namespaces': world.full('team-b') } });
  await world.createSource({ name: 'shy', asks: { 'target-namespaces': world.full('team-c') } });
  const { code, log } = await world.run('--once');
  if (code !== 0) throw new Error(log);
  // Two differences in content, one of which is a key more.
  await person.patch(world.full('team-b/colors-synced'), { data: { sky: 'grey', moon: 'white' } });
  await world.unlabel('home/kept');
  await person.delete(world.full('home/dropped'));
  await world.ask('home/bad', { 'deletion-policy': 'keep' });
  await person.patchNamespace(world.full('team-c'), {
    metadata: { annotations: world.ours({ 'accept-mirrors-from': 'nobody' }) },
  });
  await person.create({ metadata: { name: 'late-synced', namespace: world.full('home') } });
  await world.createSource({ name: 'late' });
  await world.createSource({ name: 'new' });
  await person.create({
    metadata: {
      name: 'stray',
      namespace: world.full('team-a'),
      labels: world.ours({ managed: 'companion' }),
    },
  });
  return world;
}

/** What `status -A` says of it, and `plan` but for what is in sync. */
export const MESSY_ROWS = [
  '<none> → team-a/stray: orphaned, none; it names no source',
  'home/bad → team-b/bad-synced: invalid, none; workshop.io/deletion-policy: "keep": write "delete" or "retain"',
  'home/colors → team-a/colors-synced: in sync, none; ',
  'home/colors → team-b/colors-synced: drifted, update; differs in content',
  'home/colors → team-z/colors-synced: missing, none; namespace team-z does not exist',
  'home/dropped → team-b/dropped-synced: orphaned, delete; the source is gone',
  'home/kept → team-a/kept-synced: retained, none; the source is no longer labelled; its policy is retain',
  'home/late → home/late-synced: conflict, none; a ConfigMap with this name exists and is not managed by mirror-controller',
  'home/new → home/new-synced: missing, create; it did not exist',
  "home/shy → team-c/shy-synced: orphaned, delete; the namespace's accept-mirrors-from does not accept home",
] as const;
