import { expect, test } from 'vitest';
import { schedule, subjectsOf } from '../../bench/schedule.ts';

test('each run measures each subject once, in a random order that the next run reverses', () => {
  const lots = [0.9, 0.1, 0.5, 0.2, 0.3, 0.4];
  const order = [...schedule(['ours', 'other', 'go'], 3, () => lots.shift() ?? Number.NaN)];
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
  ['ours and Go by default', {}, ['ours', 'go'], ['ours', 'go']],
  ['another build wherever ours is', {}, ['ours', 'other', 'go'], ['ours', 'other', 'go']],
  ['only those that were asked for', { subjects: ['ours', 'go', 'go-protobuf'] }, ['go'], ['go']],
  ['the API server alone without a controller', { subjects: ['none'] }, [], ['none']],
] as const)('a scenario measures %s', (_, scenario, available, expected) => {
  expect(subjectsOf(scenario, new Set(available))).toEqual(expected);
});
