import { names, source } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';
import { type Spread, spread, spreadFigures } from './spread.ts';

/** Sources sent to many namespaces one after the other, each edited once. */
export function fanOut(full: number, times: number): Scenario {
  return {
    name: `fan-out-${full}`,
    describe: `a process' first source for ${full.toLocaleString('en')} namespaces; then ${times} more, each edited once: medians`,
    measure: async (testbed) => {
      const namespaces = names(`${testbed.prefix}target-`, testbed.size(full));
      const home = `${testbed.prefix}home`;
      await testbed.createNamespaces([home, ...namespaces]);
      using observer = await testbed.observe();
      await testbed.start();
      await testbed.settle();

      const count = namespaces.length;
      const create = (name: string) =>
        spread(testbed, observer, { type: 'ADDED', source: name, count }, () =>
          testbed.load.create(source(home, name, 1024, `${testbed.prefix}target-*`)),
        );
      const edit = (name: string) =>
        spread(testbed, observer, { type: 'MODIFIED', source: name, count }, () =>
          testbed.load.edit(home, name, '1'),
        );
      // Opens connections, may start the Namespace watch, and runs code not compiled yet.
      const { latenciesMs } = await create('first');
      const creates: Spread[] = [];
      const edits: Spread[] = [];
      const wide = names('wide-', testbed.quick ? 1 : times);
      for (const name of wide) {
        creates.push(await create(name));
        edits.push(await edit(name));
      }
      await check(testbed, namespaces, wide);
      return [
        { name: 'first fan-out: first', unit: 'ms', value: latenciesMs[0] ?? Number.NaN },
        { name: 'first fan-out: last', unit: 'ms', value: latenciesMs.at(-1) ?? Number.NaN },
        ...spreadFigures('create', 'creates, 16 in flight', creates),
        ...spreadFigures('edit', 'updates, 16 in flight', edits),
      ];
    },
  };
}

/** Rejects unless every companion of these sources holds the edit. */
async function check(
  testbed: Testbed,
  namespaces: readonly string[],
  sourceNames: readonly string[],
): Promise<void> {
  for (const namespace of namespaces) {
    const { items } = await testbed.load.list(namespace);
    const byName = new Map(items.map((item) => [item.metadata.name, item]));
    for (const name of sourceNames) {
      const isEdited = byName.get(`${name}-synced`)?.data['version'] === '1';
      if (!isEdited) throw new Error(`${name}-synced in ${namespace} is missing or differs`);
    }
  }
}
