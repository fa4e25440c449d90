import { expect, test } from 'vitest';
import { medianInterval } from '../../bench/statistics.ts';

/** 1, 2, … */
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

// Tables of the sign test: the most values below that are still too few to be chance, 2.5 % on each side.
test.each([
  [1, 1, 1],
  [5, 1, 5],
  [6, 1, 6],
  [8, 1, 8],
  [9, 2, 8],
  [12, 3, 10],
  [20, 6, 15],
  [100, 40, 61],
])('the median of %i runs lies between their %i. and %i. value', (count, low, high) => {
  expect(medianInterval(upTo(count).toReversed())).toEqual([low, high]);
});

test('of no runs there is no interval', () => {
  expect(medianInterval([])).toEqual([Number.NaN, Number.NaN]);
});
