import { Changes } from '../changes.ts';
import type { Figure, Scenario } from '../scenario.ts';
import { settledNamespace } from '../settled.ts';
import { DOMAIN, names } from '../sources.ts';
import { percentile } from '../statistics.ts';

/** As long as the other one, so that all objects are as large. */
const OUR_DOMAIN = 'workroom.io';
const ROUNDS = 5;

/**
 * Both controllers run at once, each on labels of its own domain, and people's changes alternate between their sources. What
 * the machine does to one it does to the next: ratios are good to a hundredth, where those of separate runs differ by a tenth.
 */
export const beside: Scenario = {
  name: 'beside',
  describe: `edits of 300 sources, ${ROUNDS} times, and heals of their companions, each followed by the same for Go, which runs at the same time`,
  subjects: ['ours'],
  measure: async (world) => {
    const sources = names('source-', world.size(300));
    const [here, there] = [`${world.prefix}ours`, `${world.prefix}go`];
    const start = () => world.start(`--domain=${OUR_DOMAIN}`);
    using ours = await settledNamespace(world, here, sources, { domain: OUR_DOMAIN, start });
    const startGo = () => world.startBeside();
    using go = await settledNamespace(world, there, sources, { domain: DOMAIN, start: startGo });
    const both: Both<Changes> = {
      ours: new Changes(world, ours, here),
      go: new Changes(world, go, there),
    };
    const edited = Array.from({ length: world.quick ? 1 : ROUNDS }, () => sources).flat();
    return [
      ...figures('edit of a source', await byTurns(both, edited, (changes, name) => changes.edit(name))),
      ...figures('heal of an edit', await byTurns(both, sources, (changes, name) => changes.tamper(name))),
      ...figures('heal of a deletion', await byTurns(both, sources, (changes, name) => changes.remove(name))),
    ];
  },
};

interface Both<T> {
  readonly ours: T;
  readonly go: T;
}

async function byTurns(
  both: Both<Changes>,
  sources: readonly string[],
  change: (changes: Changes, source: string) => Promise<number>,
): Promise<Both<readonly number[]>> {
  const latencies: Both<number[]> = { ours: [], go: [] };
  for (const source of sources) {
    latencies.ours.push(await change(both.ours, source));
    latencies.go.push(await change(both.go, source));
  }
  return latencies;
}

function figures(what: string, latencies: Both<readonly number[]>): Figure[] {
  return [
    { name: 'p50', share: 0.5 },
    { name: 'p99', share: 0.99 },
  ].flatMap(({ name, share }) => {
    const [ours, go] = [percentile(latencies.ours, share), percentile(latencies.go, share)];
    return [
      { name: `${what}, ${name}`, unit: 'ms', value: ours },
      { name: `${what}, ${name} of Go beside it`, unit: 'ms', value: go },
      { name: `${what}, ${name} in those of Go`, unit: 'times', value: ours / go },
    ] as const;
  });
}
