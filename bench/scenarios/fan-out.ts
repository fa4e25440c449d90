import type { Observer, Seen } from '../observer.ts';
import type { CeilingName, Figure, Scenario } from '../scenario.ts';
import { names, source } from '../sources.ts';
import { median, percentile } from '../statistics.ts';
import type { Cpu, World } from '../world.ts';

/** Sources sent to many namespaces one after the other, each edited once. */
export function fanOut(full: number, times: number): Scenario {
  return {
    name: `fan-out-${full}`,
    describe: `one source to ${full} namespaces, then one edit of it; ${times} sources, medians`,
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

      const creates: Spread[] = [];
      const edits: Spread[] = [];
      const wide = names('wide-', world.quick ? 1 : times);
      for (const name of wide) {
        const create = () => world.load.create(source(home, name, 1024, targets));
        const edit = () => world.load.edit(home, name, '1');
        creates.push(await spread(world, () => observe(observer, 'ADDED', name, namespaces.length, create)));
        edits.push(await spread(world, () => observe(observer, 'MODIFIED', name, namespaces.length, edit)));
      }
      await check(world, namespaces, wide);
      return [
        ...figures('create', 'creates, 16 in flight', creates),
        // Before what does it has run often enough to be optimised.
        { name: 'create: writes a second, the first source', unit: '/s', value: rate(creates.slice(0, 1)) },
        ...figures('edit', 'updates, 16 in flight', edits),
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

/** One change on its way to all companions. */
interface Spread {
  /** Until each was seen, in that order. */
  readonly latenciesMs: readonly number[];
  readonly cpuSeconds: Cpu;
}

async function spread(world: World, change: () => Promise<readonly number[]>): Promise<Spread> {
  const before = world.cpu();
  const latenciesMs = await change();
  const after = world.cpu();
  await world.settle();
  const cpuSeconds = {
    controller: after.controller - before.controller,
    apiServer: after.apiServer - before.apiServer,
  };
  return { latenciesMs, cpuSeconds };
}

function figures(verb: string, bound: CeilingName, spreads: readonly Spread[]): Figure[] {
  const middle = (value: (spread: Spread) => number) => median(spreads.map(value));
  const writes = sum(spreads.map(({ latenciesMs }) => latenciesMs.length));
  // Of all of them: the kernel counts in hundredths of a second.
  const cpu = (value: (seconds: Cpu) => number) =>
    (1000 * sum(spreads.map(({ cpuSeconds }) => value(cpuSeconds)))) / writes;
  return [
    { name: `${verb}: first`, unit: 'ms', value: middle(({ latenciesMs }) => latenciesMs[0] ?? Number.NaN) },
    { name: `${verb}: p50`, unit: 'ms', value: middle(({ latenciesMs }) => percentile(latenciesMs, 0.5)) },
    { name: `${verb}: last`, unit: 'ms', value: middle(last) },
    { name: `${verb}: writes a second`, unit: '/s', value: rate(spreads), bound },
    { name: `${verb}: controller CPU per 1,000`, unit: 's', value: cpu(({ controller }) => controller) },
    { name: `${verb}: API server CPU per 1,000`, unit: 's', value: cpu(({ apiServer }) => apiServer) },
  ];
}

const last = ({ latenciesMs }: Spread) => latenciesMs.at(-1) ?? Number.NaN;

const rate = (spreads: readonly Spread[]) =>
  median(spreads.map((one) => (1000 * one.latenciesMs.length) / last(one)));

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Rejects unless every companion of these sources holds what the edit left. */
async function check(
  world: World,
  namespaces: readonly string[],
  sourceNames: readonly string[],
): Promise<void> {
  for (const namespace of namespaces) {
    const { items } = await world.load.list(namespace);
    const byName = new Map(items.map((item) => [item.metadata.name, item]));
    for (const name of sourceNames) {
      const edited = byName.get(`${name}-synced`)?.data['version'] === '1';
      if (!edited) throw new Error(`${name}-synced in ${namespace} is not as it should be`);
    }
  }
}
