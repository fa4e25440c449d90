import { expect, test } from 'vitest';
import { observe } from '../../src/mirror/observe/observed-config-map.ts';
import { unknownAnnotations } from '../../src/mirror/request/unknown-annotations.ts';
import { configMap, type StringMap, source, vocabulary } from './wire.ts';

const unknown = (annotations: StringMap) => unknownAnnotations({ annotations }, vocabulary);

test.for([
  ['workshop.io/target-namespace', 'workshop.io/target-namespaces'],
  ['workshop.io/Include-Keys', 'workshop.io/include-keys'],
  ['workshop.io/exlude-keys', 'workshop.io/exclude-keys'],
] as const)('[R13] %s is unknown, and %s was probably meant', ([key, meant]) => {
  expect(unknown({ [key]: 'x' })).toEqual([
    `${key} is not an annotation of mirror-controller; did you mean ${meant}?`,
  ]);
});

test('[R13] what resembles nothing is unknown without a guess', () => {
  expect(unknown({ 'workshop.io/owner': 'x' })).toEqual([
    'workshop.io/owner is not an annotation of mirror-controller',
  ]);
});

test('[R13] what we know, on whatever object, and annotations of others are none', () => {
  const keys = Object.values(vocabulary).filter((key) => typeof key === 'string' && key.includes('/'));
  expect(
    unknown(Object.fromEntries([...keys, 'example.com/target-namespace'].map((key) => [key, '']))),
  ).toEqual([]);
});

test.for([
  [{ 'include-keys': 'none' }, 'workshop.io/include-keys: matches no key of the source'],
  [{ 'exclude-keys': '*' }, 'workshop.io/exclude-keys: leaves no key to copy'],
  [{ 'include-keys': 'colour', 'exclude-keys': 'c*' }, 'workshop.io/exclude-keys: leaves no key to copy'],
] as const)('[R13] %j that selects no key makes the request invalid', ([asks, problem]) => {
  expect(observe(source('a/b', asks), vocabulary).request).toEqual({
    ok: false,
    problem: expect.stringContaining(problem),
  });
});

test('[R13] a source without any key may ask for what it likes', () => {
  const empty = configMap('a/b', {
    labels: { 'workshop.io/managed': 'true' },
    annotations: { 'workshop.io/include-keys': 'none' },
  });
  expect(observe(empty, vocabulary).request?.ok).toBe(true);
});
