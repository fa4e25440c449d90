import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { actionSummary, rowOf, stateSummary } from '../../src/inspect/report.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { COMPANION_STATES } from '../../src/mirror/explain/inventory.ts';

const document = readFileSync(new URL('../../docs/output.md', import.meta.url), 'utf8');

test('[C3] docs/output.md lists exactly the states', () => {
  const table = document.slice(document.indexOf('| state | meaning |'), document.indexOf('An entry of'));
  expect([...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, state]) => state)).toEqual(COMPANION_STATES);
});

test('[C2] [C3] the example of docs/output.md has the shape of a row', () => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(document) ?? [];
  const [example] = JSON.parse(json);
  const row = rowOf(
    {
      source: 'home/colors' as ObjectKey,
      companion: 'team-a/colors-synced' as ObjectKey,
      action: 'update',
      state: 'drifted',
      reason: 'differs in content',
    },
    [{ kind: 'data', key: 'sky', change: 'change', bytesBefore: 4, bytesAfter: 12 }],
  );
  expect(row).toEqual(example);
  const fields = [...document.matchAll(/^\| `(\w+)` \| [^|]+\|$/gm)].map(([, field]) => field);
  expect(fields.slice(0, Object.keys(row).length)).toEqual(Object.keys(row));
});

test('[C3] a row without source or companion has null there', () => {
  const base = { action: 'none', state: 'orphaned', reason: 'x' } as const;
  expect(rowOf({ ...base, source: undefined, companion: undefined })).toEqual({
    ...base,
    source: null,
    companion: null,
  });
});

test('[C2] [C3] a summary counts what there is, in its own order', () => {
  const base = { source: undefined, companion: undefined, reason: 'x' };
  const left = rowOf({ ...base, action: 'none', state: 'conflict' });
  const update = rowOf({ ...base, action: 'update', state: 'drifted' });
  expect(stateSummary([left, left, update])).toBe('3 companions: 1 drifted, 2 conflict');
  expect(stateSummary([left])).toBe('1 companion: 1 conflict');
  expect(actionSummary([left, left, update])).toBe('1 to update, 2 left alone');
  expect(actionSummary([left])).toBe('nothing to do; 1 left alone');
  expect(actionSummary([])).toBe('nothing to do');
});
