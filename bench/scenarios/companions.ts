import { memory } from '../process-stats.ts';
import type { Scenario } from '../scenario.ts';
import { names, source } from '../sources.ts';
import type { RunningController } from '../subject.ts';
import type { World } from '../world.ts';

const SOURCES = 10;
const NAMESPACES = 1000;

/**
 * What one more companion costs in memory, with hardly a source to it: few sources, each with a companion in every one
 * of 1,000 namespaces. The first source, whose companions are there too, is the base.
 */
export function companions(options: { readonly name: string; readonly bytes: number }): Scenario {
  const { name, bytes } = options;
  return {
    name,
    describe: `memory for each of ${(SOURCES * NAMESPACES).toLocaleString('en')} companions of ${bytes / 1024} KiB`,
    measure: async (world) => {
      const targets = names(`${world.prefix}target-`, world.size(NAMESPACES));
      const home = `${world.prefix}home`;
      await world.createNamespaces([home, ...targets]);
      const controller = await world.start();
      const [first = '', ...others] = names('source-', Math.max(2, world.size(SOURCES)));
      await fill(world, [first], targets.length, { home, bytes });
      const base = await atRest(world, controller);
      await fill(world, others, targets.length, { home, bytes });
      const full = await atRest(world, controller);
      const more = others.length * targets.length;
      await world.stop();
      const restarted = await atRest(world, await world.start());
      return [
        { name: 'RSS at rest with one source', unit: 'MiB', value: base },
        { name: 'RSS at rest with all', unit: 'MiB', value: full },
        { name: 'RSS for each companion', unit: 'KiB', value: ((full - base) * 1024) / more },
        { name: 'restart: RSS at rest', unit: 'MiB', value: restarted },
      ];
    },
  };
}

/** Makes the sources and waits for their companions. */
async function fill(
  world: World,
  sources: readonly string[],
  namespaces: number,
  { home, bytes }: { readonly home: string; readonly bytes: number },
): Promise<void> {
  using observer = await world.observe();
  const all = observer.collect(sources.length * namespaces, ({ type }) => type === 'ADDED');
  for (const name of sources) {
    await world.load.create(source(home, name, bytes, `${world.prefix}target-*`));
  }
  await all;
}

async function atRest(world: World, { pid }: RunningController): Promise<number> {
  await world.rest();
  return memory(pid).rss;
}
