import { memory } from '../process-stats.ts';
import type { Figure, Scenario, SubjectName } from '../scenario.ts';
import { checkCompanions, names, source, unrelated } from '../sources.ts';
import type { World } from '../world.ts';

interface BulkOptions {
  readonly name: string;
  readonly describe: string;
  readonly sources: number;
  /** Of one source's data. */
  readonly bytes?: number;
  /** ConfigMaps that are none of the controller's business. */
  readonly unrelated?: number;
  readonly subjects?: readonly SubjectName[];
}

/** A cold start over many sources, and a second start when all is settled: throughput, processor time and memory. */
export function bulk(options: BulkOptions): Scenario {
  const { name, describe, subjects } = options;
  return {
    name,
    describe,
    ...(subjects !== undefined && { subjects }),
    measure: async (world) => {
      const namespaces = await prepare(world, options);
      return [
        ...(await coldStart(world, world.size(options.sources), namespaces)),
        ...(await restart(world, namespaces)),
      ];
    },
  };
}

async function prepare(world: World, options: BulkOptions): Promise<readonly string[]> {
  const sources = world.size(options.sources);
  const others = world.size(options.unrelated ?? 0);
  const namespaces = names(`${world.prefix}bulk-`, Math.max(2, Math.ceil(sources / 100)));
  await world.createNamespaces(namespaces);
  const spread = (number: number) => namespaces[number % namespaces.length] ?? '';
  // Made as they are sent: all of them at once would be gigabytes.
  const bodies = function* () {
    for (let n = 0; n < others; n++) yield unrelated(spread(n), `other-${n}`);
    for (let n = 0; n < sources; n++) yield source(spread(n), `source-${n}`, options.bytes);
  };
  await world.load.createAll(bodies());
  return namespaces;
}

async function coldStart(world: World, count: number, namespaces: readonly string[]): Promise<Figure[]> {
  using observer = await world.observe();
  const all = observer.collect(count, ({ type }) => type === 'ADDED');
  const before = await world.requests();
  const cpuBefore = world.cpu();
  const start = performance.now();
  const controller = await world.start();
  const times = [...(await all).values()];
  const [first = Number.NaN, last = Number.NaN] = [times[0], times.at(-1)];
  const cpu = world.cpu();
  await world.settle();
  const { rss, peak } = memory(controller.pid);
  const { writes } = await world.requests();
  for (const namespace of namespaces) await checkCompanions(world.load, namespace);
  const { loop } = await world.stop();
  const perThousand = 1000 / count;
  return [
    { name: 'start to last companion', unit: 's', value: (last - start) / 1000 },
    {
      name: 'writes a second, first to last',
      unit: '/s',
      value: (1000 * (times.length - 1)) / (last - first),
      bound: 'creates, 16 in flight',
    },
    { name: 'writes beyond one each', unit: 'writes', value: writes - before.writes - count },
    { name: 'controller CPU per 1,000', unit: 's', value: cpu.controller * perThousand },
    {
      name: 'API server CPU per 1,000',
      unit: 's',
      value: (cpu.apiServer - cpuBefore.apiServer) * perThousand,
    },
    { name: 'RSS settled', unit: 'MiB', value: rss },
    { name: 'RSS peak', unit: 'MiB', value: peak },
    ...loopFigures('event loop blocked', loop),
  ];
}

async function restart(world: World, namespaces: readonly string[]): Promise<Figure[]> {
  const before = await world.requests();
  const controller = await world.start();
  await world.settle();
  const cpu = world.cpu();
  const after = await world.requests();
  const { rss, peak } = memory(controller.pid);
  for (const namespace of namespaces) await checkCompanions(world.load, namespace);
  const { loop } = await world.stop();
  return [
    { name: 'restart: ready', unit: 's', value: controller.readyMs / 1000 },
    { name: 'restart: writes', unit: 'writes', value: after.writes - before.writes },
    { name: 'restart: gets and lists', unit: 'reads', value: after.reads - before.reads },
    { name: 'restart: controller CPU', unit: 's', value: cpu.controller },
    { name: 'restart: RSS settled', unit: 'MiB', value: rss },
    { name: 'restart: RSS peak', unit: 'MiB', value: peak },
    ...loopFigures('restart: event loop blocked', loop),
  ];
}

function loopFigures(
  name: string,
  loop: { readonly max: number; readonly p99: number } | undefined,
): Figure[] {
  if (loop === undefined) return [];
  return [
    { name: `${name}, p99`, unit: 'ms', value: loop.p99 },
    { name: `${name}, longest`, unit: 'ms', value: loop.max },
  ];
}
