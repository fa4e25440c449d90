import { expect, test } from 'vitest';
import { isConflict, isGone, isNamespaceTerminating } from '../../../src/kube/errors.ts';
import { apiErrorOfReply, apiErrorOfWatch } from '../../../src/kube/http/status.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const replyWith = (body: unknown, retryAfter?: string) =>
  apiErrorOfReply({ status: 429, body: JSON.stringify(body), retryAfter }, 'host:1', NOW);
const STATUS = { kind: 'Status', message: 'slow down', details: { retryAfterSeconds: 5 } };

test.each([
  ['seconds', '3', 3_000],
  ['zero', '0', 0],
  ['a future date', 'Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
  ['a past date', 'Wed, 31 Dec 2025 23:59:00 GMT', 0],
  ['nonsense', 'soon', 5_000],
  ['nothing', undefined, 5_000],
])('[R15] a Retry-After of %s is understood, and wins over the Status', (_, header, expected) => {
  expect(replyWith(STATUS, header).retryAfterMs).toBe(expected);
});

test.each([
  ['a header', replyWith(STATUS, '86400')],
  ['a Status', replyWith({ kind: 'Status', details: { retryAfterSeconds: 1e308 } })],
  [
    'the header of a proxy',
    apiErrorOfReply({ status: 503, body: '', retryAfter: '9'.repeat(400) }, 'host:1', NOW),
  ],
  ['a watch', apiErrorOfWatch({ kind: 'Status', code: 429, details: { retryAfterSeconds: 600 } })],
])('[R15] [W3] a Retry-After of %s stops nobody for more than 30 s', (_, error) => {
  expect(error.retryAfterMs).toBe(30_000);
});

test('a Status that says little still gives a message', () => {
  expect(replyWith({ kind: 'Status' })).toMatchObject({ message: 'the API server answered 429', reason: '' });
  expect(replyWith({ kind: 'Status', message: 5, reason: {}, details: null }).causes).toEqual([]);
  expect(apiErrorOfWatch({ kind: 'Pod' })).toMatchObject({
    status: 500,
    message: 'the API server answered 500',
  });
});

test('the predicates recognise what the server answered', () => {
  const terminating = apiErrorOfReply(
    {
      status: 403,
      body: JSON.stringify({
        kind: 'Status',
        details: { causes: [{ reason: 'NamespaceTerminating' }, null, 7] },
      }),
    },
    'host:1',
    NOW,
  );
  expect(isNamespaceTerminating(terminating)).toBe(true);
  expect(isGone(apiErrorOfWatch({ kind: 'Status', code: 410, reason: 'Expired' }))).toBe(true);
  const conflict = { status: 409, body: '{"kind":"Status","reason":"Conflict"}' };
  const exists = { status: 409, body: '{"kind":"Status","reason":"AlreadyExists"}' };
  expect(isConflict(apiErrorOfReply(conflict, 'host:1', NOW))).toBe(true);
  expect(isConflict(apiErrorOfReply(exists, 'host:1', NOW))).toBe(false);
});
