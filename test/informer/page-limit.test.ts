import { expect, test } from 'vitest';
import { nextPageLimit } from '../../src/informer/page-limit.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

test.each([
  { what: 'small objects come by the hundred', objects: 10, bytes: 10 * 2 * KIB, expected: 100 },
  { what: 'as many as fit into 4 MiB', objects: 10, bytes: 10 * 200 * KIB, expected: 20 },
  { what: 'the largest come four at a time', objects: 10, bytes: 10 * MIB, expected: 4 },
  { what: 'at least one', objects: 1, bytes: 9 * MIB, expected: 1 },
  { what: 'a page without objects says nothing of their size', objects: 0, bytes: 200, expected: 100 },
])('[W2] after a page, the next: $what', ({ objects, bytes, expected }) => {
  expect(nextPageLimit(objects, bytes)).toBe(expected);
});
