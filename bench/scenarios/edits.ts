import type { Figure } from '../report/figure.ts';
import { percentile } from '../report/statistics.ts';
import { settledNamespace } from '../testbed/settled-namespace.ts';
import { names } from '../testbed/sources.ts';
import { TimedChanges } from '../testbed/timed-changes.ts';
import type { Scenario } from './scenario.ts';

/** The 99th percentile of fewer is the longest. */
const SOURCES = 300;
/** Edits with a pause before each. */
const ALONE = 8;

/** One change after the other, each when the companion is right again after the one before. */
export const edits: Scenario = {
  name: 'edits',
  describe: `${SOURCES} edits of sources, of companions, and deletions of companions, one after the other`,
  measure: async (testbed) => {
    const namespace = `${testbed.prefix}edits`;
    const sources = names('source-', testbed.size(SOURCES));
    using observer = await settledNamespace(testbed, namespace, sources);
    const changes = new TimedChanges(testbed.load, observer, namespace);
    return [
      ...figures('edit of a source', await serially(sources, (name) => changes.edit(name))),
      ...figures('heal of an edit', await serially(sources, (name) => changes.tamper(name))),
      ...figures('heal of a deletion', await serially(sources, (name) => changes.remove(name))),
    ];
  },
};

/** What people do most: an edit after a quiet time, when idle connections may have been closed. */
export const loneEdits: Scenario = {
  name: 'lone-edits',
  describe: `${ALONE} edits, each after 35 s of quiet`,
  onRequest: true,
  measure: async (testbed) => {
    const namespace = `${testbed.prefix}edits`;
    const sources = names('source-', testbed.size(ALONE));
    using observer = await settledNamespace(testbed, namespace, sources);
    const changes = new TimedChanges(testbed.load, observer, namespace);
    const latencies = await serially(sources, async (name) => {
      await testbed.lull();
      return await changes.edit(name);
    });
    return [
      { name: 'lone edit, p50', unit: 'ms', value: percentile(latencies, 0.5) },
      { name: 'lone edit, longest', unit: 'ms', value: percentile(latencies, 1) },
    ];
  },
};

async function serially(
  items: readonly string[],
  measure: (item: string) => Promise<number>,
): Promise<number[]> {
  const latencies: number[] = [];
  for (const item of items) latencies.push(await measure(item));
  return latencies;
}

function figures(name: string, latencies: readonly number[]): Figure[] {
  return [
    {
      name: `${name}, p50`,
      unit: 'ms',
      value: percentile(latencies, 0.5),
      bound: 'one write seen by a watch, p50',
    },
    { name: `${name}, p99`, unit: 'ms', value: percentile(latencies, 0.99) },
  ];
}
