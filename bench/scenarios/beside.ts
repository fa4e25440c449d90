import { Changes } from '../changes.ts';
import type { Figure, Scenario } from '../scenario.ts';
import { settledNamespace } from '../settled.ts';
import { DOMAIN, names } from '../sources.ts';
import { percentile } from '../statistics.ts';
import { LULL_SECONDS, type World } from '../world.ts';

/** As long as the other one, so that all objects are as large. */
const OUR_DOMAIN = 'workroom.io';
const SOURCES = 300;
/** How often each source is edited: what is measured first, what is not, and what is measured then. */
const ROUNDS = { first: 5, between: 10, later: 5 };
/** Edits with a lull before each. */
const ALONE = 8;

/** Which shares of all latencies are below what is reported. */
const OF_MANY = { p50: 0.5, p99: 0.99 };
const OF_FEW = { p50: 0.5, longest: 1 };

/**
 * Both controllers run at once, each on labels of its own domain, and people's changes alternate between their sources. What
 * the machine does to one it does to the next: ratios are good to a hundredth, where those of separate runs differ by a tenth.
 */
export const beside: Scenario = {
  name: 'beside',
  describe: `edits of ${SOURCES} sources, ${ROUNDS.first} times, heals of their companions, and edits again when the process has seen ${SOURCES * (ROUNDS.first + ROUNDS.between)}, each right before or after the same for Go, which runs at the same time`,
  subjects: ['ours'],
  measure: (world) => {
    const sources = names('source-', world.size(SOURCES));
    const rounds = (count: number) => Array.from({ length: world.quick ? 1 : count }, () => sources).flat();
    return withBoth(world, sources, async (both) => {
      const compare = async (what: string, changed: readonly string[], change: Change) =>
        figures(what, OF_MANY, await byTurns(both, changed, change));
      const first = [
        ...(await compare('edit of a source', rounds(ROUNDS.first), edit)),
        ...(await compare('heal of an edit', sources, (changes, name) => changes.tamper(name))),
        ...(await compare('heal of a deletion', sources, (changes, name) => changes.remove(name))),
      ];
      await byTurns(both, rounds(ROUNDS.between), edit);
      return [...first, ...(await compare('edit of a source, later', rounds(ROUNDS.later), edit))];
    });
  },
};

/** The same for what people do most: one edit after a quiet time, when idle connections may have been closed. */
export const alone: Scenario = {
  name: 'alone',
  describe: `${ALONE} edits, each after ${LULL_SECONDS} s of quiet and right before or after the same for Go, which runs at the same time`,
  subjects: ['ours'],
  measure: (world) => {
    const sources = names('source-', world.size(ALONE));
    return withBoth(world, sources, async (both) => {
      const lull = () => world.lull();
      return figures('lone edit', OF_FEW, await byTurns(both, sources, edit, lull));
    });
  },
};

/** Resolves to the milliseconds until all was well again. */
type Change = (changes: Changes, source: string) => Promise<number>;

const edit: Change = (changes, source) => changes.edit(source);

interface Both<T> {
  readonly ours: T;
  readonly go: T;
}

/** Measures with both controllers settled, each in a namespace of its own with these sources. */
async function withBoth(
  world: World,
  sources: readonly string[],
  measureBoth: (both: Both<Changes>) => Promise<Figure[]>,
): Promise<Figure[]> {
  const [here, there] = [`${world.prefix}ours`, `${world.prefix}go`];
  const start = () => world.start(`--domain=${OUR_DOMAIN}`);
  using ours = await settledNamespace(world, here, sources, { domain: OUR_DOMAIN, start });
  const startGo = () => world.startBeside();
  using go = await settledNamespace(world, there, sources, { domain: DOMAIN, start: startGo });
  return await measureBoth({ ours: new Changes(world, ours, here), go: new Changes(world, go, there) });
}

/** The latencies of `change` to each source; now ours comes first, now Go's. */
async function byTurns(
  both: Both<Changes>,
  sources: readonly string[],
  change: Change,
  before: () => Promise<void> = async () => undefined,
): Promise<Both<readonly number[]>> {
  const latencies: Both<number[]> = { ours: [], go: [] };
  for (const [turn, source] of sources.entries()) {
    await before();
    const order = turn % 2 === 0 ? (['ours', 'go'] as const) : (['go', 'ours'] as const);
    for (const name of order) latencies[name].push(await change(both[name], source));
  }
  return latencies;
}

function figures(
  what: string,
  shares: Readonly<Record<string, number>>,
  latencies: Both<readonly number[]>,
): Figure[] {
  return Object.entries(shares).flatMap(([name, share]) => {
    const [ours, go] = [percentile(latencies.ours, share), percentile(latencies.go, share)];
    return [
      { name: `${what}, ${name}`, unit: 'ms', value: ours },
      { name: `${what}, ${name} of Go beside it`, unit: 'ms', value: go },
      { name: `${what}, ${name} in those of Go`, unit: 'times', value: ours / go },
    ] as const;
  });
}
