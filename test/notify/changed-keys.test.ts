import { expect, it } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { parseKeyGlobs } from '../../src/mirror/request/patterns.ts';
import { ChangedKeys } from '../../src/notify/changed-keys.ts';

const KEY = objectKey('shop', 'colors');
const globs = (text: string) => {
  const parsed = parseKeyGlobs(text, 'data');
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
};
const ALL = { includeKeys: undefined, excludeKeys: globs(''), renameKeys: new Map<string, string>() };
const of = (data: Readonly<Record<string, string>>, binaryData = {}) => ({ data, binaryData });

it('[N2] keys that were added, changed or removed, over several edits', () => {
  const keys = new ChangedKeys();
  keys.add(KEY, of({ a: '1', b: '1' }), of({ a: '2', b: '1' }));
  keys.add(KEY, of({ a: '2', b: '1' }, { logo: 'AA==' }), of({ a: '2', c: '1' }, { logo: 'AP8=' }));
  expect(keys.of(KEY, ALL)).toEqual(['a', 'b', 'c', 'logo']);
  keys.forget(KEY);
  expect(keys.of(KEY, ALL)).toBeUndefined();
});

it('[N2] only those that companions have, under their names there', () => {
  const keys = new ChangedKeys();
  keys.add(KEY, of({ a: '1', secret: '1' }), of({ a: '2', secret: '2' }));
  expect(keys.of(KEY, { ...ALL, excludeKeys: globs('secret') })).toEqual(['a']);
  expect(keys.of(KEY, { ...ALL, renameKeys: new Map([['a', 'z']]) })).toEqual(['secret', 'z']);
  // The source selects other keys than before, and that is the change.
  expect(keys.of(KEY, { ...ALL, includeKeys: globs('other') })).toBeUndefined();
});

it('[N2] unknown after an edit that nobody has seen, and for very many', () => {
  const unseen = new ChangedKeys();
  unseen.add(KEY, undefined, of({ a: '1' }));
  unseen.add(KEY, of({ a: '1' }), of({ a: '2' }));
  expect(unseen.of(KEY, ALL)).toBeUndefined();
  const many = new ChangedKeys();
  many.add(KEY, of({}), of(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`key-${at}`, '']))));
  expect(many.of(KEY, ALL)).toBeUndefined();
  const long = new ChangedKeys();
  const names = Array.from({ length: 20 }, (_, at) => `${at}-${'x'.repeat(240)}`);
  long.add(KEY, of({}), of(Object.fromEntries(names.map((name) => [name, '']))));
  expect(long.of(KEY, ALL)).toBeUndefined();
});
