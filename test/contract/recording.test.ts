import { expect, test } from 'vitest';
import { compareExchanges } from './recording.ts';

const FIRST = { request: 'POST /a', body: { k: 'v' }, code: 201, answer: {} };
const SECOND = { request: 'GET /a', code: 200, answer: { k: 'v' } };

test('[B3] a test passes if its exchanges are the recorded ones', () => {
  compareExchanges('a test', [FIRST, SECOND], [FIRST, SECOND]);
});

test.each([
  ['the last exchange is missing', [FIRST]],
  ['there is an exchange too many', [FIRST, SECOND, SECOND]],
  ['the order differs', [SECOND, FIRST]],
  ['a request body differs', [{ ...FIRST, body: { k: 'w' } }, SECOND]],
  ['an answer differs', [FIRST, { ...SECOND, answer: { k: 'w' } }]],
])('[B3] a test fails if %s', (_what, seen) => {
  expect(() => compareExchanges('a test', seen, [FIRST, SECOND])).toThrow('to deeply equal');
});

test.each([[[]], [undefined]])('[B3] a test fails without recorded exchanges (%j)', (recorded) => {
  expect(() => compareExchanges('a test', [], recorded)).toThrow('there is no recording of "a test"');
});
