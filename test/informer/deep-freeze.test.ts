import { expect, test } from 'vitest';
import { deepFreeze } from '../../src/informer/deep-freeze.ts';

test('a value is frozen with all that it holds', () => {
  const value = deepFreeze({ labels: { team: 'a' }, keys: ['x', { deep: true }], nothing: null, text: 'y' });
  expect([value, value.labels, value.keys, value.keys[1]].every(Object.isFrozen)).toBe(true);
});

test('binary data within is left as it is', () => {
  const bytes = new Uint8Array([1, 2]);
  expect(deepFreeze({ bytes }).bytes).toBe(bytes);
});

test('primitives pass through', () => {
  expect([deepFreeze('a'), deepFreeze(1), deepFreeze(undefined), deepFreeze(null)]).toEqual([
    'a',
    1,
    undefined,
    null,
  ]);
});
