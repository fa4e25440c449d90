import { percentile } from '../report/statistics.ts';
import { names, source } from '../testbed/sources.ts';
import type { Scenario } from './scenario.ts';

/** Namespaces created one after the other, each when the companion is in the one before. */
export const newNamespace: Scenario = {
  name: 'new-namespace',
  describe: "100 new namespaces, one after the other, until one source's companion is there",
  measure: async (testbed) => {
    const home = `${testbed.prefix}home`;
    await testbed.createNamespaces([home, `${testbed.prefix}new-first`]);
    await testbed.load.create(source(home, 'wide', 1024, `${testbed.prefix}new-*`));
    using observer = await testbed.observe();
    const complete = observer.collect(1, () => true);
    await testbed.start();
    await complete;
    await testbed.settle();

    const latencies: number[] = [];
    for (const namespace of names(`${testbed.prefix}new-`, testbed.size(100))) {
      const create = () => testbed.createNamespaces([namespace]);
      latencies.push(await observer.latency(create, ({ object }) => object.metadata.namespace === namespace));
    }
    return [
      { name: 'companion, p50', unit: 'ms', value: percentile(latencies, 0.5) },
      { name: 'companion, p99', unit: 'ms', value: percentile(latencies, 0.99) },
    ];
  },
};
