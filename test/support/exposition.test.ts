import { expect, test } from 'vitest';
import { parseExposition } from './exposition.ts';

const HEAD = '# HELP a_total A.\n# TYPE a_total counter\n';
const HISTOGRAM = '# HELP h H.\n# TYPE h histogram\n';

test('reads what the format allows', () => {
  const text = `${HEAD}a_total{b="c \\"d\\" \\\\ \\n",e="f,g}"} 1.5e-7\n\n# HELP g G.\n# TYPE g gauge\ng -Inf\n`;
  const families = parseExposition(text);
  expect(families.get('a_total')).toEqual({
    type: 'counter',
    series: new Map([['a_total{b="c \\"d\\" \\\\ \\n",e="f,g}"}', 1.5e-7]]),
  });
  expect(families.get('g')?.series.get('g')).toBe(Number.NEGATIVE_INFINITY);
});

test.each([
  ['no line feed at the end', `${HEAD}a_total 1`],
  ['a series without a type', 'a_total 1\n'],
  ['a series of another metric', `${HEAD}b_total 1\n`],
  ['a series twice', `${HEAD}a_total 1\na_total 1\n`],
  ['a metric twice', `${HEAD}a_total 1\n${HEAD}a_total 1\n`],
  ['a label twice', `${HEAD}a_total{b="1",b="2"} 1\n`],
  ['a quote that is not escaped', `${HEAD}a_total{b="c"d"} 1\n`],
  ['no value', `${HEAD}a_total\n`],
  ['a value that is no number', `${HEAD}a_total undefined\n`],
  ['a counter below 0', `${HEAD}a_total -1\n`],
  ['a counter without _total', '# HELP a A.\n# TYPE a counter\na 1\n'],
  ['a gauge with _total', '# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n'],
  ['buckets that fall', `${HISTOGRAM}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`],
  [
    'buckets out of order',
    `${HISTOGRAM}h_bucket{le="2"} 1\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`,
  ],
  ['a count other than +Inf', `${HISTOGRAM}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
])('refuses %s', (_, text) => {
  expect(() => parseExposition(text)).toThrow();
});
