import { expect, test } from 'vitest';
import { subjectsOf, turns } from '../../bench/turns.ts';

test('each subject is measured once a run, in an order drawn by lot, and reversed in the run after', () => {
  const lots = [0.9, 0.1, 0.5, 0.2, 0.3, 0.4];
  const order = [...turns(['ours', 'other', 'go'], 3, () => lots.shift() ?? Number.NaN)];
  expect(order).toEqual([
    { run: 1, subject: 'other' },
    { run: 1, subject: 'go' },
    { run: 1, subject: 'ours' },
    { run: 2, subject: 'ours' },
    { run: 2, subject: 'go' },
    { run: 2, subject: 'other' },
    { run: 3, subject: 'ours' },
    { run: 3, subject: 'other' },
    { run: 3, subject: 'go' },
  ]);
});

test.each([
  ['by default ours and Go', {}, ['ours', 'go'], ['ours', 'go']],
  ['another build wherever ours is', {}, ['ours', 'other', 'go'], ['ours', 'other', 'go']],
  ['only those that were asked for', { subjects: ['ours', 'go', 'go-protobuf'] }, ['go'], ['go']],
  ['none needs no controller', { subjects: ['none'] }, [], ['none']],
] as const)('measured are %s', (_, scenario, there, expected) => {
  expect(subjectsOf(scenario, new Set(there))).toEqual(expected);
});
