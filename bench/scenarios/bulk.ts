import type { Figure, SubjectName } from '../report/figure.ts';
import { memory } from '../testbed/process-stats.ts';
import { checkCompanions, names, source, unrelated } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';

interface BulkOptions {
  readonly name: string;
  readonly sources: number;
  /** Size of a source's data (KiB); default 1. */
  readonly kib?: number;
  /** Number of other, unlabelled ConfigMaps. */
  readonly unrelated?: number;
  readonly subjects?: readonly SubjectName[];
  readonly onRequest?: boolean;
  /** Whether memory is read only when the process is at rest. */
  readonly rests?: boolean;
}

/** A first start over many sources, and a restart when all is settled. */
export function bulk(options: BulkOptions): Scenario {
  const { name, sources, kib = 1, unrelated = 0, subjects, onRequest = false } = options;
  const among = unrelated === 0 ? '' : ` among ${unrelated.toLocaleString('en')} other ConfigMaps`;
  return {
    name,
    describe: `first start and restart over ${sources.toLocaleString('en')} sources of ${kib} KiB${among}`,
    ...(subjects !== undefined && { subjects }),
    onRequest,
    measure: async (testbed) => {
      const namespaces = await prepare(testbed, options);
      const settle = () => (options.rests === true ? testbed.rest() : testbed.settle());
      return [
        ...(await coldStart(testbed, testbed.size(sources), namespaces, settle)),
        ...(await restart(testbed, namespaces, settle)),
      ];
    },
  };
}

async function prepare(testbed: Testbed, options: BulkOptions): Promise<readonly string[]> {
  const sources = testbed.size(options.sources);
  const others = testbed.size(options.unrelated ?? 0);
  const namespaces = names(`${testbed.prefix}bulk-`, Math.max(2, Math.ceil(sources / 100)));
  await testbed.createNamespaces(namespaces);
  const spread = (number: number) => namespaces[number % namespaces.length] ?? '';
  // Generated as they are sent: all at once would be gigabytes.
  const bytes = (options.kib ?? 1) * 1024;
  const bodies = function* () {
    for (let n = 0; n < others; n++) yield unrelated(spread(n), `other-${n}`);
    for (let n = 0; n < sources; n++) yield source(spread(n), `source-${n}`, bytes);
  };
  await testbed.load.createAll(bodies());
  return namespaces;
}

async function coldStart(
  testbed: Testbed,
  count: number,
  namespaces: readonly string[],
  settle: () => Promise<void>,
): Promise<Figure[]> {
  using observer = await testbed.observe();
  const all = observer.collect(count, ({ type }) => type === 'ADDED');
  const before = await testbed.requests();
  const cpuBefore = testbed.cpu();
  const start = performance.now();
  const controller = await testbed.start();
  const times = [...(await all).values()];
  const [first = Number.NaN, last = Number.NaN] = [times[0], times.at(-1)];
  const cpu = testbed.cpu();
  await settle();
  const { rss, peak } = memory(controller.pid);
  const { writes } = await testbed.requests();
  for (const namespace of namespaces) await checkCompanions(testbed.load, namespace);
  const { loop } = await testbed.stop();
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
    { name: 'controller CPU', unit: 's', value: cpu.controller },
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

async function restart(
  testbed: Testbed,
  namespaces: readonly string[],
  settle: () => Promise<void>,
): Promise<Figure[]> {
  const before = await testbed.requests();
  const controller = await testbed.start();
  await settle();
  const cpu = testbed.cpu();
  const after = await testbed.requests();
  const { rss, peak } = memory(controller.pid);
  for (const namespace of namespaces) await checkCompanions(testbed.load, namespace);
  const { loop } = await testbed.stop();
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
