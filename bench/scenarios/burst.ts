import { percentile } from '../report/statistics.ts';
import { inFlight } from '../testbed/load.ts';
import { settledNamespace } from '../testbed/settled-namespace.ts';
import { checkCompanions, names } from '../testbed/sources.ts';
import type { Scenario } from './scenario.ts';

const EDITS = 4;
const IN_FLIGHT = 50;

/** Many people edit at once. */
export const burst: Scenario = {
  name: 'burst',
  describe: `500 sources, ${EDITS} edits of each, ${IN_FLIGHT} in flight`,
  measure: async (testbed) => {
    const namespace = `${testbed.prefix}burst`;
    const sources = names('source-', testbed.size(500));
    using observer = await settledNamespace(testbed, namespace, sources);

    const before = await testbed.requests();
    const settled = observer.collect(
      sources.length,
      ({ object }) => object.data['version'] === String(EDITS),
    );
    const lastEdit = new Map<string, number>();
    const start = performance.now();
    for (let version = 1; version <= EDITS; version++) {
      await inFlight(IN_FLIGHT, sources, (name) => {
        lastEdit.set(`${namespace}/${name}-synced`, performance.now());
        return testbed.load.edit(namespace, name, String(version));
      });
    }
    const seen = await settled;
    const latencies = [...seen].map(([key, at]) => at - (lastEdit.get(key) ?? Number.NaN));
    await testbed.settle();
    const { writes } = await testbed.requests();
    await checkCompanions(testbed.load, namespace);
    return [
      { name: 'first edit to last companion', unit: 's', value: (Math.max(...seen.values()) - start) / 1000 },
      { name: "a source's last edit to its companion, p50", unit: 'ms', value: percentile(latencies, 0.5) },
      { name: "a source's last edit to its companion, p99", unit: 'ms', value: percentile(latencies, 0.99) },
      {
        name: "controller's writes for an edit",
        unit: 'times',
        value: (writes - before.writes) / (EDITS * sources.length),
      },
    ];
  },
};
