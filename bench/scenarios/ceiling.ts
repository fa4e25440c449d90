import type { CeilingName, Figure } from '../report/figure.ts';
import { percentile } from '../report/statistics.ts';
import { inFlight } from '../testbed/load.ts';
import { companionLike, names } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';

/** The API server's rate for a client that does nothing else: no controller can be faster. */
export const ceiling: Scenario = {
  name: 'ceiling',
  describe: 'creates, updates and deletes of 1 KiB, and one write seen by a watch, with no controller',
  subjects: ['none'],
  measure: async (testbed) => {
    const [warm = '', ...namespaces] = names(`${testbed.prefix}ceiling-`, 6);
    await testbed.createNamespaces([warm, ...namespaces]);
    await rates(testbed, warm, 16, testbed.size(500));
    const figures: Figure[] = [];
    for (const [number, limit] of [1, 16, 32, 64].entries()) {
      const size = testbed.size(limit === 1 ? 500 : 3000);
      figures.push(...(await rates(testbed, namespaces[number] ?? '', limit, size)));
    }
    return [...figures, ...(await roundTrips(testbed, namespaces.at(-1) ?? ''))];
  },
};

async function rates(testbed: Testbed, namespace: string, limit: number, count: number): Promise<Figure[]> {
  const bodies = names('c', count).map((name) => companionLike(namespace, name));
  const figure = async (verb: string, work: (body: (typeof bodies)[number]) => Promise<unknown>) => {
    const before = testbed.cpu();
    const start = performance.now();
    await inFlight(limit, bodies, work);
    const seconds = (performance.now() - start) / 1000;
    const cpu = testbed.cpu().apiServer - before.apiServer;
    const name = `${verb}, ${limit} in flight`;
    return [
      { name, unit: '/s', value: count / seconds } as const,
      { name: `${name}: API server CPU per 1,000`, unit: 's', value: (1000 * cpu) / count } as const,
    ];
  };
  return [
    ...(await figure('creates', (body) => testbed.load.create(body))),
    ...(await figure('updates', (body) => testbed.load.edit(namespace, body.metadata.name, '1'))),
    ...(await figure('deletes', (body) => testbed.load.delete(namespace, body.metadata.name))),
  ];
}

const SEEN: CeilingName = 'one write seen by a watch, p50';

async function roundTrips(testbed: Testbed, namespace: string): Promise<Figure[]> {
  using observer = await testbed.observe({ namespace, data: true });
  await testbed.load.create(companionLike(namespace, 'seen'));
  const latencies: number[] = [];
  for (const version of names('v', testbed.size(300))) {
    const change = () => testbed.load.edit(namespace, 'seen-synced', version);
    latencies.push(await observer.latency(change, ({ object }) => object.data['version'] === version));
  }
  return [
    { name: SEEN, unit: 'ms', value: percentile(latencies, 0.5) },
    { name: 'one write seen by a watch, p99', unit: 'ms', value: percentile(latencies, 0.99) },
  ];
}
