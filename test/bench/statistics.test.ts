import { expect, test } from 'vitest';
import { medianInterval } from '../../bench/report/statistics.ts';

/** 1, 2, … */
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

// From tables of the sign test, 2.5 % on each side.
test.each([
  [1, 1, 1],
  [5, 1, 5],
  [6, 1, 6],
  [8, 1, 8],
  [9, 2, 8],
  [12, 3, 10],
  [20, 6, 15],
  [100, 40, 61],
])('the median of %i runs lies between values %i and %i', (count, low, high) => {
  expect(medianInterval(upTo(count).toReversed())).toEqual([low, high]);
});

test('without runs there is no interval', () => {
  expect(medianInterval([])).toEqual([Number.NaN, Number.NaN]);
});
