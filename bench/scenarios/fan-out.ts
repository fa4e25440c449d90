import type { Observer, Seen } from '../observer.ts';
import type { CeilingName, Figure, Scenario } from '../scenario.ts';
import { names, source } from '../sources.ts';
import { percentile } from '../statistics.ts';
import type { World } from '../world.ts';

/** One source to many namespaces, and one edit of it. */
export function fanOut(full: number): Scenario {
  return {
    name: `fan-out-${full}`,
    describe: `one source to ${full} namespaces, then one edit of it`,
    measure: async (world) => {
      const namespaces = names(`${world.prefix}target-`, world.size(full));
      const targets = `${world.prefix}target-*`;
      const home = `${world.prefix}home`;
      await world.createNamespaces([home, ...namespaces]);
      using observer = await world.observe();
      await world.start();
      // The first source makes the controller watch namespaces and open its connections.
      await observe(observer, 'ADDED', 'warm', namespaces.length, () =>
        world.load.create(source(home, 'warm', 64, targets)),
      );
      await world.settle();

      const create = () => world.load.create(source(home, 'wide', 1024, targets));
      const edit = () => world.load.edit(home, 'wide', '1');
      return [
        ...(await spread(world, 'create', 'creates, 16 in flight', () =>
          observe(observer, 'ADDED', 'wide', namespaces.length, create),
        )),
        ...(await spread(world, 'edit', 'updates, 16 in flight', () =>
          observe(observer, 'MODIFIED', 'wide', namespaces.length, edit),
        )),
        ...(await check(world, namespaces)),
      ];
    },
  };
}

/** Milliseconds from the start of `change` until each of `count` companions was seen, in that order. */
async function observe(
  observer: Observer,
  type: Seen['type'],
  sourceName: string,
  count: number,
  change: () => Promise<unknown>,
): Promise<readonly number[]> {
  const companions = observer.collect(
    count,
    (seen) => seen.type === type && seen.object.metadata.name === `${sourceName}-synced`,
  );
  const start = performance.now();
  const [times] = await Promise.all([companions, change()]);
  return [...times.values()].map((at) => at - start);
}

async function spread(
  world: World,
  verb: string,
  bound: CeilingName,
  change: () => Promise<readonly number[]>,
): Promise<Figure[]> {
  const before = world.cpu();
  const latencies = await change();
  const after = world.cpu();
  await world.settle();
  const last = latencies.at(-1) ?? Number.NaN;
  const perThousand = 1000 / latencies.length;
  return [
    { name: `${verb}: first`, unit: 'ms', value: latencies[0] ?? Number.NaN },
    { name: `${verb}: p50`, unit: 'ms', value: percentile(latencies, 0.5) },
    { name: `${verb}: last`, unit: 'ms', value: last },
    { name: `${verb}: writes a second`, unit: '/s', value: (1000 * latencies.length) / last, bound },
    {
      name: `${verb}: controller CPU per 1,000`,
      unit: 's',
      value: (after.controller - before.controller) * perThousand,
    },
    {
      name: `${verb}: API server CPU per 1,000`,
      unit: 's',
      value: (after.apiServer - before.apiServer) * perThousand,
    },
  ];
}

/** Rejects unless every companion holds what the edit left. */
async function check(world: World, namespaces: readonly string[]): Promise<Figure[]> {
  for (const namespace of namespaces) {
    const { items } = await world.load.list(namespace);
    const wide = items.find(({ metadata }) => metadata.name === 'wide-synced');
    if (wide?.data['version'] !== '1') throw new Error(`wide-synced in ${namespace} is not as it should be`);
  }
  return [];
}
