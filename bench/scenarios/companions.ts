import type { RunningController } from '../subjects/start.ts';
import { memory } from '../testbed/process-stats.ts';
import { names, source, targeting } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';

const SOURCES = 10;
/** Namespaces for the base, which holds everything that is needed once. */
const FEW = 100;
const MORE = 900;

/** Memory per companion: the targets of a few sources grow to many more namespaces. */
export const companions: Scenario = {
  name: 'companions',
  describe: `memory for ${(SOURCES * MORE).toLocaleString('en')} more companions of ${SOURCES} sources`,
  measure: async (testbed) => {
    const home = `${testbed.prefix}home`;
    const few = names(`${testbed.prefix}few-`, testbed.size(FEW));
    const more = names(`${testbed.prefix}more-`, testbed.size(MORE));
    await testbed.createNamespaces([home, ...few, ...more]);
    const sources = names('source-', Math.max(2, testbed.size(SOURCES)));
    const controller = await testbed.start();
    await whileCreated(testbed, sources.length * few.length, async () => {
      for (const name of sources)
        await testbed.load.create(source(home, name, 1024, `${testbed.prefix}few-*`));
    });
    const base = await atRest(testbed, controller);
    const added = sources.length * more.length;
    await whileCreated(testbed, added, async () => {
      const annotations = targeting(`${testbed.prefix}few-*,${testbed.prefix}more-*`);
      for (const name of sources) await testbed.load.patch(home, name, { metadata: { annotations } });
    });
    const full = await atRest(testbed, controller);
    await testbed.stop();
    const restarted = await atRest(testbed, await testbed.start());
    return [
      { name: 'RSS with the base', unit: 'MiB', value: base },
      { name: 'RSS with all', unit: 'MiB', value: full },
      { name: 'RSS for 1,000 companions more', unit: 'MiB', value: (1000 * (full - base)) / added },
      { name: 'restart: RSS', unit: 'MiB', value: restarted },
    ];
  },
};

/** Resolves when `count` companions have been created. */
async function whileCreated(testbed: Testbed, count: number, change: () => Promise<void>): Promise<void> {
  using observer = await testbed.observe();
  const all = observer.collect(count, ({ type }) => type === 'ADDED');
  await change();
  await all;
}

async function atRest(testbed: Testbed, { pid }: RunningController): Promise<number> {
  await testbed.rest();
  return memory(pid).rss;
}
