import type { Scenario } from '../scenario.ts';
import { names, source } from '../sources.ts';
import { percentile } from '../statistics.ts';

const SOURCES = ['a', 'b', 'c'];

/** Namespaces that come one after the other, each until all its companions are there. */
export const newNamespace: Scenario = {
  name: 'new-namespace',
  describe: `a new namespace until the companions of ${SOURCES.length} sources are in it`,
  measure: async (world) => {
    const home = `${world.prefix}home`;
    const targets = `${world.prefix}new-*`;
    await world.createNamespaces([home, `${world.prefix}new-first`]);
    await world.load.createAll(SOURCES.map((name) => source(home, name, 1024, targets)));
    using observer = await world.observe();
    const complete = observer.collect(SOURCES.length, () => true);
    await world.start();
    await complete;
    await world.settle();

    const latencies: number[] = [];
    for (const namespace of names(`${world.prefix}new-`, world.size(100))) {
      const companions = observer.collect(
        SOURCES.length,
        ({ object }) => object.metadata.namespace === namespace,
      );
      const start = performance.now();
      const [times] = await Promise.all([companions, world.createNamespaces([namespace])]);
      latencies.push(Math.max(...times.values()) - start);
    }
    return [
      { name: 'all companions, p50', unit: 'ms', value: percentile(latencies, 0.5) },
      { name: 'all companions, p99', unit: 'ms', value: percentile(latencies, 0.99) },
    ];
  },
};
