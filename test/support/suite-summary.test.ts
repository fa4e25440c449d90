import { expect, test } from 'vitest';
import { type FileOutcome, summaryLines } from './suite-summary.ts';

const file = (suite: string, fields: Partial<FileOutcome>): FileOutcome => ({
  suite,
  states: [],
  brokenParts: 0,
  missing: [],
  ...fields,
});

test('each suite is counted, and the last line is the total alone', () => {
  const files = [
    file('unit', { states: ['passed', 'passed', 'failed'] }),
    file('sandbox', { states: ['skipped', 'pending'] }),
    file('unit', { states: ['passed'] }),
  ];

  expect(summaryLines(files, 0)).toEqual([
    'unit           3 passed, 1 failed, 0 skipped',
    'sandbox        0 passed, 0 failed, 2 skipped',
    '3 passed, 1 failed, 2 skipped',
  ]);
});

test('what is skipped for want of a control plane has one line, with each reason once', () => {
  const skipped = file('control-plane', { states: ['skipped'], missing: ['there is no Go'] });

  expect(summaryLines([skipped, skipped], 0)).toEqual([
    'control-plane  0 passed, 0 failed, 2 skipped',
    'SKIPPED FOR WANT OF A CONTROL PLANE: there is no Go',
    '0 passed, 0 failed, 2 skipped',
  ]);
});

test('nothing that fails outside of tests is counted as success', () => {
  expect(summaryLines([file('unit', { states: ['passed'], brokenParts: 1 })], 0).at(-1)).toBe(
    '1 passed, 1 failed, 0 skipped',
  );
  expect(summaryLines([file('unit', { states: ['passed'] })], 2).at(-1)).toBe(
    '1 passed, 2 failed, 0 skipped',
  );
  expect(summaryLines([], 0)).toEqual(['0 passed, 1 failed, 0 skipped']);
});
