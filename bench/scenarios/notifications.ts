import type { Figure } from '../report/figure.ts';
import { median, percentile } from '../report/statistics.ts';
import { inFlight } from '../testbed/load.ts';
import type { Observer } from '../testbed/observer.ts';
import { memory } from '../testbed/process-stats.ts';
import { SlowSink } from '../testbed/slow-sink.ts';
import { checkCompanions, names, source } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';

const SOURCES = 1000;
const ROUNDS = 8;
const IN_FLIGHT = 50;
const ANSWER_MS = 1_000;
/** Requests that a sink gets at once. */
const AT_ONCE = 4;

/** How one edit of every source went. */
interface Edited {
  readonly lastMs: number;
  readonly p50Ms: number;
  readonly peakMiB: number;
}

/** Whether companions wait for a sink that is slow (SPEC N5): with it, and without, in turns. */
export const notifications: Scenario = {
  name: 'notifications',
  describe: `an edit of ${SOURCES.toLocaleString('en')} sources, with a sink that answers in 1 s and without one`,
  subjects: ['ours'],
  onRequest: true,
  measure: async (testbed) => {
    const namespace = `${testbed.prefix}notifications`;
    const sources = names('source-', testbed.size(SOURCES));
    await testbed.createNamespaces([namespace]);
    await testbed.load.createAll(sources.map((name) => source(namespace, name)));
    using observer = await testbed.observe({ namespace, data: true });
    await using sink = await SlowSink.open(ANSWER_MS);
    const config = sink.writeConfig(testbed.folder);

    const complete = observer.collect(sources.length, () => true);
    await testbed.start();
    await complete;
    await testbed.stop();
    const found: { readonly with: Edited[]; readonly without: Edited[] } = { with: [], without: [] };
    for (let round = 0; round < testbed.size(ROUNDS); round++) {
      // Each round has a state of its own: what waited in the one before would be sent, too.
      const flags = [
        `--notify-config=${config}`,
        `--leader-elect-lease-namespace=${namespace}`,
        `--leader-elect-lease-name=round-${round}`,
      ];
      const edit = (how: string, ...more: readonly string[]) =>
        editAll(testbed, observer, { namespace, sources, version: `${round} ${how}` }, more);
      const measureWith = async () => void found.with.push(await edit('with', ...flags));
      const measureWithout = async () => void found.without.push(await edit('without'));
      const order = [measureWithout, measureWith];
      for (const measure of round % 2 === 0 ? order : order.toReversed()) await measure();
    }
    await checkCompanions(testbed.load, namespace);
    const arriveSeconds = await lastOfEachArrives(testbed, sink, namespace, sources);
    return [
      ...figures(found),
      { name: 'newest version of each at the sink', unit: 's', value: arriveSeconds },
    ];
  },
};

/**
 * Starts the controller, edits every source once, and stops it when all companions have the edit.
 */
async function editAll(
  testbed: Testbed,
  observer: Observer,
  {
    namespace,
    sources,
    version,
  }: { readonly namespace: string; readonly sources: readonly string[]; readonly version: string },
  flags: readonly string[],
): Promise<Edited> {
  const { pid } = await testbed.start(...flags);
  await testbed.settle();
  const all = observer.collect(sources.length, ({ object }) => object.data['version'] === version);
  const editedAt = new Map<string, number>();
  const start = performance.now();
  await inFlight(IN_FLIGHT, sources, (name) => {
    editedAt.set(`${namespace}/${name}-synced`, performance.now());
    return testbed.load.edit(namespace, name, version);
  });
  const seen = await all;
  await testbed.settle();
  const peakMiB = memory(pid).peak;
  await testbed.stop();
  const latencies = [...seen].map(([key, at]) => at - (editedAt.get(key) ?? Number.NaN));
  return { lastMs: Math.max(...seen.values()) - start, p50Ms: percentile(latencies, 0.5), peakMiB };
}

/** The time (s) from an edit of all sources to the last request about one of them. */
async function lastOfEachArrives(
  testbed: Testbed,
  sink: SlowSink,
  namespace: string,
  sources: readonly string[],
): Promise<number> {
  await testbed.start(
    `--notify-config=${sink.writeConfig(testbed.folder)}`,
    `--leader-elect-lease-namespace=${namespace}`,
    '--leader-elect-lease-name=arrives',
  );
  await testbed.settle();
  const start = performance.now();
  for (const version of ['older', 'newest']) {
    await inFlight(IN_FLIGHT, sources, (name) => testbed.load.edit(namespace, name, version));
  }
  // Those that got the older version when they were first in the queue get another request.
  const deadlineMs = (3 * sources.length * ANSWER_MS) / AT_ONCE + 30_000;
  const missing = () => sources.filter((name) => sink.versions.get(`${namespace}/${name}`) !== 'newest');
  while (missing().length > 0) {
    if (performance.now() - start > deadlineMs) {
      throw new Error(`the sink was not told the newest version of ${missing().length} sources`);
    }
    await testbed.settle();
  }
  return (performance.now() - start) / 1000;
}

function figures(found: { readonly with: readonly Edited[]; readonly without: readonly Edited[] }): Figure[] {
  const of = (what: keyof Edited, edits: readonly Edited[]) => edits.map((edit) => edit[what]);
  const compared = (name: string, what: keyof Edited, unit: 'ms' | 'MiB'): Figure[] => {
    const [without, withSink] = [of(what, found.without), of(what, found.with)];
    const ratios = withSink.map((value, at) => value / (without[at] ?? Number.NaN));
    return [
      { name: `without a sink: ${name}`, unit, value: median(without) },
      { name: `with a slow sink: ${name}`, unit, value: median(withSink) },
      { name: `with / without: ${name}`, unit: 'times', value: median(ratios) },
    ];
  };
  return [
    ...compared('first edit to last companion', 'lastMs', 'ms'),
    ...compared('an edit to its companion, p50', 'p50Ms', 'ms'),
    ...compared('peak RSS', 'peakMiB', 'MiB'),
  ];
}
