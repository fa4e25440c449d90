import type { CeilingName, Figure } from '../report/figure.ts';
import { median, percentile } from '../report/statistics.ts';
import type { Observer, Seen } from '../testbed/observer.ts';
import type { Cpu, Testbed } from '../testbed/testbed.ts';

/** How one change of a source reached all its companions. */
export interface Spread {
  /** Until each was seen, in that order. */
  readonly latenciesMs: readonly number[];
  readonly cpuSeconds: Cpu;
}

/** Makes the change, waits until `count` companions of the source were seen, and settles. */
export async function spread(
  testbed: Testbed,
  observer: Observer,
  expected: { readonly type: Seen['type']; readonly source: string; readonly count: number },
  change: () => Promise<unknown>,
): Promise<Spread> {
  const { type, source, count } = expected;
  const companions = observer.collect(
    count,
    (seen) => seen.type === type && seen.object.metadata.name === `${source}-synced`,
  );
  const before = testbed.cpu();
  const start = performance.now();
  const [times] = await Promise.all([companions, change()]);
  const after = testbed.cpu();
  await testbed.settle();
  return {
    latenciesMs: [...times.values()].map((at) => at - start),
    cpuSeconds: {
      controller: after.controller - before.controller,
      apiServer: after.apiServer - before.apiServer,
    },
  };
}

/** Medians over several spreads. */
export function spreadFigures(verb: string, bound: CeilingName, spreads: readonly Spread[]): Figure[] {
  const middle = (value: (one: Spread) => number) => median(spreads.map(value));
  const last = ({ latenciesMs }: Spread) => latenciesMs.at(-1) ?? Number.NaN;
  const writes = sum(spreads.map(({ latenciesMs }) => latenciesMs.length));
  // Over all of them: the kernel counts in hundredths of a second.
  const cpu = (value: (seconds: Cpu) => number) =>
    (1000 * sum(spreads.map(({ cpuSeconds }) => value(cpuSeconds)))) / writes;
  return [
    { name: `${verb}: first`, unit: 'ms', value: middle(({ latenciesMs }) => latenciesMs[0] ?? Number.NaN) },
    { name: `${verb}: p50`, unit: 'ms', value: middle(({ latenciesMs }) => percentile(latenciesMs, 0.5)) },
    { name: `${verb}: last`, unit: 'ms', value: middle(last) },
    {
      name: `${verb}: writes a second`,
      unit: '/s',
      value: middle((one) => (1000 * one.latenciesMs.length) / last(one)),
      bound,
    },
    { name: `${verb}: controller CPU per 1,000`, unit: 's', value: cpu(({ controller }) => controller) },
    { name: `${verb}: API server CPU per 1,000`, unit: 's', value: cpu(({ apiServer }) => apiServer) },
  ];
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
