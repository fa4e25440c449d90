import { expect, test } from 'vitest';
import { vocabularyOf, watchSelector } from '../../src/mirror/vocabulary.ts';

test('every key is in the given domain', () => {
  const { domain, companionLabels: _, revisionLabels: __, ...keys } = vocabularyOf('example.com');
  expect(domain).toBe('example.com');
  expect(Object.values(keys).filter((key) => !/^example\.com\/[a-z-]+$/.test(key))).toEqual([]);
  expect(new Set(Object.values(keys)).size).toBe(Object.keys(keys).length);
});

test('[W1] the watch selects sources, companions, revisions and values by one label', () => {
  expect(watchSelector(vocabularyOf('workshop.io'))).toBe(
    'workshop.io/managed in (true,companion,revision,values)',
  );
});
