import { expect, it } from 'vitest';
import { recordsIn, SHARDS, shardOf } from '../../src/notify/state/stored-record.ts';

const VERSION = 'a'.repeat(64);
const AT = '2026-01-01T00:00:00Z';
const pending = { type: 'source.created', seq: 1, version: VERSION, at: AT };
const sound = {
  ref: 'shop/colors',
  seq: 1,
  resourceVersion: '7',
  version: VERSION,
  at: AT,
  sinks: { ops: { pending: [pending] } },
};

it.each([
  ['sound', sound, true],
  ['without sinks', { ...sound, sinks: undefined }, true],
  ['with an impossible key', { ...sound, ref: '../x' }, false],
  ['without a number', { ...sound, seq: 'x' }, false],
  ['with a version that is none', { ...sound, version: '\u001b[31m' }, false],
  ['without a time', { ...sound, at: 'once' }, false],
  ['of a sink that cannot be', { ...sound, sinks: { 'O S': {} } }, false],
  ['of an unknown type', { ...sound, sinks: { ops: { pending: [{ ...pending, type: 'x' }] } } }, false],
  ['with no list of what waits', { ...sound, sinks: { ops: { pending: 7 } } }, false],
  ['that is null', null, false],
  ['with a choice that is no text', { ...sound, notify: 5 }, false],
  ['with conditions', { ...sound, conditions: { 'canary.failed': 'why' } }, true],
  ['with conditions that are none', { ...sound, conditions: null }, false],
  ['with a list of conditions', { ...sound, conditions: ['x'] }, false],
  ['with a condition that is no text', { ...sound, conditions: { 'canary.failed': 1 } }, false],
])('[N4] a stored record %s is taken as such: %j', (_, record, isTaken) => {
  const malformed: string[] = [];
  const records = recordsIn({ data: { uid: JSON.stringify(record) } }, (uid) => malformed.push(uid));
  expect([...records.keys()]).toEqual(isTaken ? ['uid'] : []);
  expect(malformed).toEqual(isTaken ? [] : ['uid']);
});

it.each([
  [{ reason: 'why', previousVersion: VERSION, resourceVersion: '7', changedKeys: ['sky'] }, true],
  [{ companions: { 'in sync': 2 } }, true],
  [{ reason: 5 }, false],
  [{ previousVersion: 5 }, false],
  [{ resourceVersion: 5 }, false],
  [{ changedKeys: 'sky' }, false],
  [{ changedKeys: [5] }, false],
  [{ companions: 'two' }, false],
  [{ companions: { 'in sync': 'two' } }, false],
])('[N4] so is one of which a notification waits with %j: %j', (more, isTaken) => {
  const record = { ...sound, sinks: { ops: { pending: [{ ...pending, ...more }] } } };
  const records = recordsIn({ data: { uid: JSON.stringify(record) } }, () => undefined);
  expect(records.has('uid')).toBe(isTaken);
});

it('[N4] records are spread over all shards', () => {
  const shards = Array.from({ length: 1_000 }, (__, at) => shardOf(`uid-${at}`));
  expect(new Set(shards).size).toBe(SHARDS);
});
