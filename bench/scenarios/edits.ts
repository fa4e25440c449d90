import { Changes } from '../changes.ts';
import type { Figure, Scenario, SubjectName } from '../scenario.ts';
import { settledNamespace } from '../settled.ts';
import { names } from '../sources.ts';
import { percentile } from '../statistics.ts';

interface EditsOptions {
  readonly name: string;
  /** Edited once each; their companions are tampered with, and deleted, once. */
  readonly sources: number;
  readonly subjects?: readonly SubjectName[];
}

/** One change after the other, each waited for. */
export const edits = ({ sources: count, ...about }: EditsOptions): Scenario => ({
  ...about,
  describe: `${count} edits of sources, of companions, and deletions of companions, one after the other: until the companion is as it should be`,
  measure: async (world) => {
    const namespace = `${world.prefix}edits`;
    const sources = names('source-', world.size(count));
    using observer = await settledNamespace(world, namespace, sources);
    const changes = new Changes(world, observer, namespace);
    return [
      ...figures('edit of a source', await serially(sources, (name) => changes.edit(name))),
      ...figures('heal of an edit', await serially(sources, (name) => changes.tamper(name))),
      ...figures('heal of a deletion', await serially(sources, (name) => changes.remove(name))),
    ];
  },
});

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
