import { memory } from '../process-stats.ts';
import type { Scenario } from '../scenario.ts';
import { asksFor, names, source } from '../sources.ts';
import type { RunningController } from '../subject.ts';
import type { World } from '../world.ts';

const SOURCES = 10;
/** Where the companions are that are the base: all sources have some, so that whatever there is once is there. */
const FEW = 100;
const MORE = 900;

/**
 * What one more companion costs in memory, with hardly a source to it: few sources whose companions in some namespaces are
 * the base, and which then get one in each of many more.
 */
export function companions(options: { readonly name: string; readonly bytes: number }): Scenario {
  const { name, bytes } = options;
  return {
    name,
    describe: `memory for each of ${(SOURCES * MORE).toLocaleString('en')} companions more of ${bytes / 1024} KiB`,
    measure: async (world) => {
      const home = `${world.prefix}home`;
      const few = names(`${world.prefix}few-`, world.size(FEW));
      const more = names(`${world.prefix}more-`, world.size(MORE));
      await world.createNamespaces([home, ...few, ...more]);
      const sources = names('source-', Math.max(2, world.size(SOURCES)));
      const controller = await world.start();
      await whileCreated(world, sources.length * few.length, async () => {
        for (const name of sources)
          await world.load.create(source(home, name, bytes, `${world.prefix}few-*`));
      });
      const base = await atRest(world, controller);
      await whileCreated(world, sources.length * more.length, async () => {
        const annotations = asksFor(`${world.prefix}few-*,${world.prefix}more-*`);
        for (const name of sources) await world.load.patch(home, name, { metadata: { annotations } });
      });
      const full = await atRest(world, controller);
      await world.stop();
      const restarted = await atRest(world, await world.start());
      return [
        { name: 'RSS at rest with the base', unit: 'MiB', value: base },
        { name: 'RSS at rest with all', unit: 'MiB', value: full },
        {
          name: 'RSS for each companion',
          unit: 'KiB',
          value: ((full - base) * 1024) / (sources.length * more.length),
        },
        { name: 'restart: RSS at rest', unit: 'MiB', value: restarted },
      ];
    },
  };
}

/** Resolves when `count` companions have been created. */
async function whileCreated(world: World, count: number, change: () => Promise<void>): Promise<void> {
  using observer = await world.observe();
  const all = observer.collect(count, ({ type }) => type === 'ADDED');
  await change();
  await all;
}

async function atRest(world: World, { pid }: RunningController): Promise<number> {
  await world.rest();
  return memory(pid).rss;
}
