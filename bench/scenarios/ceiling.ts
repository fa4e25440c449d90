import { inFlight } from '../load.ts';
import type { CeilingName, Figure, Scenario } from '../scenario.ts';
import { companionLike, names } from '../sources.ts';
import { percentile } from '../statistics.ts';
import type { World } from '../world.ts';

/** What the API server gives to a client that does nothing else: no controller can be faster. */
export const ceiling: Scenario = {
  name: 'ceiling',
  describe: 'creates and updates of 1 KiB, and one write seen by a watch, with no controller',
  subjects: ['none'],
  measure: async (world) => {
    const [warm = '', ...namespaces] = names(`${world.prefix}ceiling-`, 6);
    await world.createNamespaces([warm, ...namespaces]);
    await rates(world, warm, 16, world.size(500));
    const figures: Figure[] = [];
    for (const [number, limit] of [1, 16, 32, 64].entries()) {
      const size = world.size(limit === 1 ? 500 : 3000);
      figures.push(...(await rates(world, namespaces[number] ?? '', limit, size)));
    }
    return [...figures, ...(await roundTrips(world, namespaces.at(-1) ?? ''))];
  },
};

async function rates(world: World, namespace: string, limit: number, count: number): Promise<Figure[]> {
  const bodies = names('c', count).map((name) => companionLike(namespace, name));
  const figure = async (verb: string, work: (body: (typeof bodies)[number]) => Promise<unknown>) => {
    const before = world.cpu();
    const start = performance.now();
    await inFlight(limit, bodies, work);
    const seconds = (performance.now() - start) / 1000;
    const cpu = world.cpu().apiServer - before.apiServer;
    const name = `${verb}, ${limit} in flight`;
    return [
      { name, unit: '/s', value: count / seconds } as const,
      { name: `${name}: API server CPU per 1,000`, unit: 's', value: (1000 * cpu) / count } as const,
    ];
  };
  return [
    ...(await figure('creates', (body) => world.load.create(body))),
    ...(await figure('updates', (body) => world.load.edit(namespace, body.metadata.name, '1'))),
  ];
}

const SEEN: CeilingName = 'one write seen by a watch, p50';

async function roundTrips(world: World, namespace: string): Promise<Figure[]> {
  using observer = await world.observe({ namespace, data: true });
  await world.load.create(companionLike(namespace, 'seen'));
  const latencies: number[] = [];
  for (const version of names('v', world.size(300))) {
    const change = () => world.load.edit(namespace, 'seen-synced', version);
    latencies.push(await observer.latency(change, ({ object }) => object.data['version'] === version));
  }
  return [
    { name: SEEN, unit: 'ms', value: percentile(latencies, 0.5) },
    { name: 'one write seen by a watch, p99', unit: 'ms', value: percentile(latencies, 0.99) },
  ];
}
