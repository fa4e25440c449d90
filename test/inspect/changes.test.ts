import { expect, test } from 'vitest';
import { changeInWords, contentChanges } from '../../src/inspect/changes.ts';

test('[C2] changes of content: keys and sizes in bytes, by key', () => {
  const before = { data: { gone: 'é', same: 'x', constructor: 'a' }, binaryData: { b: 'AP8=', k: 'AA==' } };
  const after = { data: { new: '', same: 'x', constructor: 'b' }, binaryData: { b: 'AA==', k: 'AA==' } };
  expect(contentChanges(before, after).map(changeInWords)).toEqual([
    '~ data constructor: 1 B → 1 B',
    '- data gone: 2 B',
    '+ data new: 0 B',
    '~ binaryData b: 2 B → 1 B',
  ]);
});

test('[C2] changes of metadata have no values', () => {
  expect(changeInWords({ kind: 'label', key: 'team', change: 'remove' })).toBe('- label team');
  expect(changeInWords({ kind: 'annotation', key: 'x/y', change: 'set' })).toBe('~ annotation x/y');
  expect(changeInWords({ kind: 'owner references' })).toBe('~ owner references');
});
