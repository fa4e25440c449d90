import type { SubjectName } from './report/figure.ts';
import type { Scenario } from './scenarios/scenario.ts';

/** One subject in one run of a scenario. */
export interface Measurement {
  readonly subject: SubjectName;
  /** From 1. */
  readonly run: number;
}

/**
 * Each of `subjects` once a run. The order is random, and reversed in the next run: whoever comes
 * second finds a machine still busy with the first, and what the API server does periodically may
 * hit every second measurement.
 */
export function* schedule(
  subjects: readonly SubjectName[],
  runs: number,
  random: () => number,
): Iterable<Measurement> {
  let order = subjects;
  for (let run = 1; run <= runs; run++) {
    order = run % 2 === 1 ? shuffled(subjects, random) : order.toReversed();
    for (const subject of order) yield { subject, run };
  }
}

/** The scenario's subjects that are `available`. `other` goes where `ours` does. */
export function subjectsOf(
  { subjects = ['ours', 'go'] }: Pick<Scenario, 'subjects'>,
  available: ReadonlySet<SubjectName>,
): readonly SubjectName[] {
  return subjects
    .flatMap((name) => (name === 'ours' ? (['ours', 'other'] as const) : [name]))
    .filter((name) => name === 'none' || available.has(name));
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, lot: random() }))
    .toSorted((a, b) => a.lot - b.lot)
    .map(({ item }) => item);
}
