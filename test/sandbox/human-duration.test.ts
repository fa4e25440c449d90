import { expect, test } from 'vitest';
import { humanDuration } from '../../src/sandbox/http/human-duration.ts';

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

test.each([
  [-2 * second, '<invalid>'],
  [-second, '0s'],
  [0, '0s'],
  [119 * second, '119s'],
  [120 * second, '2m'],
  [3 * minute + 20 * second, '3m20s'],
  [10 * minute + 5 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 5 * minute, '3h5m'],
  [8 * hour + 5 * minute, '8h'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [2 * day + 3 * hour, '2d3h'],
  [8 * day + 3 * hour, '8d'],
  [3 * 365 * day, '3y'],
  [3 * 365 * day + 2 * day, '3y2d'],
  [9 * 365 * day, '9y'],
])('[B1] an age of %d ms is printed as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});
