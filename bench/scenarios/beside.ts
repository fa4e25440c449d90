import { Changes } from '../changes.ts';
import type { Figure, Scenario } from '../scenario.ts';
import { settledNamespace } from '../settled.ts';
import { DOMAIN, names } from '../sources.ts';
import { percentile } from '../statistics.ts';

/** As long as the other one, so that all objects are as large. */
const OUR_DOMAIN = 'workroom.io';
const ROUNDS = 5;

/**
 * Both controllers run at once, each on labels of its own domain, and their sources are edited by turns. What the machine
 * does to one edit it does to the next: the ratios are good to a hundredth, where those of separate runs differ by a tenth.
 */
export const beside: Scenario = {
  name: 'beside',
  describe: `edits of 300 sources, ${ROUNDS} times, each followed by one of a source that Go looks after at the same time`,
  subjects: ['ours'],
  measure: async (world) => {
    const sources = names('source-', world.size(300));
    const [here, there] = [`${world.prefix}ours`, `${world.prefix}go`];
    const start = () => world.start(`--domain=${OUR_DOMAIN}`);
    using ours = await settledNamespace(world, here, sources, { domain: OUR_DOMAIN, start });
    const startGo = () => world.startBeside();
    using go = await settledNamespace(world, there, sources, { domain: DOMAIN, start: startGo });
    const [changes, changesOfGo] = [new Changes(world, ours, here), new Changes(world, go, there)];
    const latencies = { ours: [] as number[], go: [] as number[] };
    for (let round = 0; round < (world.quick ? 1 : ROUNDS); round++) {
      for (const source of sources) {
        latencies.ours.push(await changes.edit(source));
        latencies.go.push(await changesOfGo.edit(source));
      }
    }
    return [...figures('p50', 0.5, latencies), ...figures('p99', 0.99, latencies)];
  },
};

function figures(
  name: string,
  share: number,
  latencies: { readonly ours: readonly number[]; readonly go: readonly number[] },
): Figure[] {
  const [ours, go] = [percentile(latencies.ours, share), percentile(latencies.go, share)];
  return [
    { name, unit: 'ms', value: ours },
    { name: `${name} of Go beside it`, unit: 'ms', value: go },
    { name: `${name} in those of Go`, unit: 'times', value: ours / go },
  ];
}
