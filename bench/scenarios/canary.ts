import type { Figure } from '../report/figure.ts';
import { median } from '../report/statistics.ts';
import { names, source } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Scenario } from './scenario.ts';
import { type Spread, spread } from './spread.ts';

const NAMESPACES = 1000;
const CANARIES = 10;
const TIMES = 3;
const SOURCE = 'wide';

/** What a canary costs: the same edits with and without one. */
export const canary: Scenario = {
  name: 'canary',
  describe: `edits of a source in ${NAMESPACES.toLocaleString('en')} namespaces, of which ${CANARIES} are canaries, and their approval; ${TIMES} each, medians`,
  subjects: ['ours'],
  onRequest: true,
  measure: async (testbed) => {
    const others = names(`${testbed.prefix}target-`, testbed.size(NAMESPACES - CANARIES));
    const canaries = names(`${testbed.prefix}target-qa-`, CANARIES);
    const home = `${testbed.prefix}home`;
    await testbed.createNamespaces([home, ...canaries, ...others]);
    using observer = await testbed.observe();
    await testbed.start();
    const spreading = (type: 'ADDED' | 'MODIFIED', count: number, change: () => Promise<unknown>) =>
      spread(testbed, observer, { type, source: SOURCE, count }, change);
    const annotate = (annotations: Readonly<Record<string, string>>) =>
      testbed.load.patch(home, SOURCE, { metadata: { annotations } });
    const all = canaries.length + others.length;
    await spreading('ADDED', all, () =>
      testbed.load.create(source(home, SOURCE, 1024, `${testbed.prefix}target-*`)),
    );
    const [plain, tried, approved]: [Spread[], Spread[], Spread[]] = [[], [], []];
    const versions = names('', TIMES);
    for (const version of versions) {
      plain.push(await spreading('MODIFIED', all, () => testbed.load.edit(home, SOURCE, `plain-${version}`)));
    }
    await annotate({ 'workshop.io/keep-revisions': '5' });
    await testbed.settle();
    await annotate({
      'workshop.io/canary': `${testbed.prefix}target-qa-*`,
      'workshop.io/canary-bake': 'manual',
    });
    await testbed.settle();
    for (const version of versions) {
      const edit = () => testbed.load.edit(home, SOURCE, `canary-${version}`);
      tried.push(await spreading('MODIFIED', canaries.length, edit));
      await checkNone(testbed, others, `canary-${version}`);
      const approve = { 'workshop.io/canary-approve': await checksum(testbed, canaries[0] ?? '') };
      approved.push(await spreading('MODIFIED', others.length, () => annotate(approve)));
    }
    return [
      ...figures('without a canary', plain),
      ...figures('canaries', tried),
      ...figures('the others, from the approval on', approved),
    ];
  },
};

function figures(what: string, spreads: readonly Spread[]): Figure[] {
  const at = (index: number) => median(spreads.map(({ latenciesMs }) => latenciesMs.at(index) ?? Number.NaN));
  return [
    { name: `${what}: first`, unit: 'ms', value: at(0) },
    { name: `${what}: last`, unit: 'ms', value: at(-1) },
  ];
}

/** Rejects if a companion in one of these namespaces holds the edit: it waits for approval. */
async function checkNone(testbed: Testbed, namespaces: readonly string[], version: string): Promise<void> {
  for (const namespace of namespaces) {
    const { data } = await companionIn(testbed, namespace);
    if (data['version'] === version) throw new Error(`${namespace} has the content before its approval`);
  }
}

/** The beginning of the checksum of what a companion holds. */
async function checksum(testbed: Testbed, namespace: string): Promise<string> {
  const { metadata } = await companionIn(testbed, namespace);
  return (metadata.annotations?.['workshop.io/source-checksum'] ?? '').slice(0, 8);
}

async function companionIn(testbed: Testbed, namespace: string) {
  const { items } = await testbed.load.list(namespace);
  const found = items.find(({ metadata }) => metadata.name === `${SOURCE}-synced`);
  if (found === undefined) throw new Error(`${SOURCE}-synced in ${namespace} is missing`);
  return found;
}
