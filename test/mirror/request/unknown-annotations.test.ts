import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unknownAnnotations } from '../../../src/mirror/request/unknown-annotations.ts';
import { vocabularyOf } from '../../../src/mirror/vocabulary.ts';
import { vocabulary } from '../wire.ts';

const sentences = (...keys: readonly string[]) =>
  unknownAnnotations({ annotations: Object.fromEntries(keys.map((key) => [key, ''])) }, vocabulary);

test.for([
  ['canary-bake', 'canary'],
  ['canary-approve', 'canary'],
  ['values-from', 'render-keys'],
] as const)('[R13] %s without %s is reported: it has no effect', ([key, other]) => {
  const [one, two] = [`workshop.io/${key}`, `workshop.io/${other}`];
  expect(sentences(one)).toEqual([`${one} has no effect without ${two}`]);
  expect(sentences(one, two)).toEqual([]);
});

describe('[R13] an annotation of our domain that does not exist is reported', () => {
  const typos: Readonly<Record<string, string>> = {
    'workshop.io/target-namespace': 'workshop.io/target-namespaces',
    'workshop.io/targets-namespaces': 'workshop.io/target-namespaces',
    'workshop.io/target_namespaces': 'workshop.io/target-namespaces',
    'workshop.io/TARGET-Namespaces': 'workshop.io/target-namespaces',
    'workshop.io/target-namespaces-selector': 'workshop.io/target-namespace-selector',
    'workshop.io/companion-nmae': 'workshop.io/companion-name',
    'workshop.io/includekeys': 'workshop.io/include-keys',
    'workshop.io/exclude-key': 'workshop.io/exclude-keys',
    'workshop.io/deletion-polices': 'workshop.io/deletion-policy',
  };
  test.for(Object.entries(typos))('%s was meant to be %s', ([key, meant]) => {
    expect(sentences(key)).toEqual([
      `${key} is not an annotation of mirror-controller; did you mean ${meant}?`,
    ]);
  });

  test.for(['workshop.io/', 'workshop.io/owner', 'workshop.io/namespaces', 'workshop.io/sources'])(
    '%s without a guess',
    (key) => {
      expect(sentences(key)).toEqual([`${key} is not an annotation of mirror-controller`]);
    },
  );

  test('each of several, in order', () => {
    expect(sentences('workshop.io/b', 'team', 'workshop.io/include-keys', 'workshop.io/a')).toEqual([
      'workshop.io/b is not an annotation of mirror-controller',
      'workshop.io/a is not an annotation of mirror-controller',
    ]);
  });

  test('but at most ten at once: to compare 15,000 with what exists takes more than a second', () => {
    const many = Array.from({ length: 15_000 }, (_, number) => `workshop.io/${number}`);
    expect(sentences(...many)).toHaveLength(10);
  });

  test('but not one of another domain, nor one for another kind of object', () => {
    const { domain: _, companionLabels: __, revisionLabels: ___, ...keys } = vocabulary;
    expect(sentences(...Object.values(keys))).toEqual([]);
    expect(sentences('example.com/target-namespace', 'my.workshop.io/x', 'workshop.io')).toEqual([]);
    const annotations = { 'workshop.io/target-namespace': '' };
    expect(unknownAnnotations({ annotations }, vocabularyOf('example.com'))).toEqual([]);
  });

  test('with the right guess for any single typo', () => {
    const { targetNamespaces, companionName, deletionPolicy } = vocabulary;
    const typo = fc.record({
      meant: fc.constantFrom(targetNamespaces, companionName, deletionPolicy),
      at: fc.nat({ max: 12 }),
      removed: fc.constantFrom(0, 1),
      added: fc.constantFrom('', 'x', '-'),
    });
    fc.assert(
      fc.property(typo, ({ meant, at, removed, added }) => {
        const name = meant.slice('workshop.io/'.length);
        const key = `workshop.io/${name.slice(0, at)}${added}${name.slice(at + removed)}`;
        fc.pre(key !== meant);
        expect(sentences(key)[0]).toMatch(new RegExp(`; did you mean ${meant}\\?$`));
      }),
    );
  });
});
