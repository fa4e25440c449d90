import { COMPANIONS, names, source, UNLABEL } from '../testbed/sources.ts';
import type { Scenario } from './scenario.ts';
import { type Spread, spread, spreadFigures } from './spread.ts';

const TIMES = 3;

/** Sources with many companions, unlabelled one after the other. */
export const cleanup: Scenario = {
  name: 'cleanup',
  describe: `a source with 1,000 companions is unlabelled, until all are gone; ${TIMES} sources, medians`,
  measure: async (testbed) => {
    const namespaces = names(`${testbed.prefix}target-`, testbed.size(1000));
    const home = `${testbed.prefix}home`;
    await testbed.createNamespaces([home, ...namespaces]);
    using observer = await testbed.observe();
    await testbed.start();

    const count = namespaces.length;
    const deletes: Spread[] = [];
    for (const name of names('wide-', testbed.quick ? 1 : TIMES)) {
      await spread(testbed, observer, { type: 'ADDED', source: name, count }, () =>
        testbed.load.create(source(home, name, 1024, `${testbed.prefix}target-*`)),
      );
      deletes.push(
        await spread(testbed, observer, { type: 'DELETED', source: name, count }, () =>
          testbed.load.patch(home, name, UNLABEL),
        ),
      );
    }
    const { items } = await testbed.load.list('', `?labelSelector=${COMPANIONS}`);
    if (items.length > 0) throw new Error(`${items.length} companions are left`);
    return spreadFigures('delete', 'deletes, 16 in flight', deletes);
  },
};
