import { median } from '../report/statistics.ts';
import { names, source } from '../testbed/sources.ts';
import type { Scenario } from './scenario.ts';

const SOURCES = 100;
const NAMESPACES = 100;
const TIMES = 5;

/** Somebody asks where all companions stand, while no controller runs. */
export const status: Scenario = {
  name: 'status',
  describe: `\`status -A\` over ${(SOURCES * NAMESPACES).toLocaleString('en')} companions of ${SOURCES} sources`,
  subjects: ['ours', 'other'],
  measure: async (testbed) => {
    const home = `${testbed.prefix}home`;
    const targets = names(`${testbed.prefix}target-`, testbed.size(NAMESPACES));
    const sources = names('source-', testbed.size(SOURCES));
    await testbed.createNamespaces([home, ...targets]);
    const count = sources.length * targets.length;
    using observer = await testbed.observe();
    const all = observer.collect(count, ({ type }) => type === 'ADDED');
    await testbed.start();
    await testbed.load.createAll(
      sources.map((name) => source(home, name, 1024, `${testbed.prefix}target-*`)),
    );
    await all;
    await testbed.settle();
    await testbed.stop();

    const asked = [];
    for (let time = 0; time < TIMES; time++) asked.push(await testbed.ask('status', '-A'));
    const summary = `\n${count} companions: ${count} in sync\n`;
    for (const { printed } of asked) {
      if (!printed.endsWith(summary)) throw new Error(`status ended with ${printed.slice(-200)}`);
    }
    return [
      { name: 'status -A', unit: 'ms', value: median(asked.map(({ ms }) => ms)) },
      { name: 'status -A: RSS peak', unit: 'MiB', value: Math.max(...asked.map(({ peakMiB }) => peakMiB)) },
    ];
  },
};
