import type { Scenario, SubjectName } from './scenario.ts';

/** One measurement of one subject. */
export interface Turn {
  readonly subject: SubjectName;
  /** From 1. */
  readonly run: number;
}

/**
 * Each of `subjects` once a run. What is measured second finds a machine that is still busy with what was measured first, and what
 * the API server does now and then may fall on every second turn; so the order is drawn by lot, and the run after has it reversed.
 */
export function* turns(subjects: readonly SubjectName[], runs: number, random: () => number): Iterable<Turn> {
  let order = subjects;
  for (let run = 1; run <= runs; run++) {
    order = run % 2 === 1 ? shuffled(subjects, random) : order.toReversed();
    for (const subject of order) yield { subject, run };
  }
}

/** Those of the scenario that there are; `other` goes where `ours` does, and `none` has no controller. */
export function subjectsOf(
  { subjects = ['ours', 'go'] }: Pick<Scenario, 'subjects'>,
  there: ReadonlySet<SubjectName>,
): readonly SubjectName[] {
  return subjects
    .flatMap((name) => (name === 'ours' ? (['ours', 'other'] as const) : [name]))
    .filter((name) => name === 'none' || there.has(name));
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, lot: random() }))
    .toSorted((a, b) => a.lot - b.lot)
    .map(({ item }) => item);
}
