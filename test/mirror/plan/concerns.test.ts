import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import {
  concernedOthers,
  concernedSources,
  dependsOnNamespaces,
  isConcernedByNamespace,
  targetIndexValues,
  targetIndexValuesOf,
} from '../../../src/mirror/plan/concerns.ts';
import { matchesTargets } from '../../../src/mirror/request/targets.ts';
import {
  companion,
  configMap,
  namespace,
  observed,
  observedNamespace,
  source,
  stripped,
  unreadableNamespace,
  vocabulary,
} from '../wire.ts';
import { boundsOf, viewOf, world } from '../world.ts';

const colors = source('team-a/colors', { 'target-namespaces': 'team-b' });
const shapes = source('team-a/shapes');
const there = companion(colors, 'team-b/colors-synced');
const namespaces = [namespace('team-a'), namespace('team-b'), namespace('team-c')];

describe('[R1] the sources that a change of a ConfigMap concerns', () => {
  const watched = boundsOf({ namespaces: ['team-a', 'team-b', 'team-c', 'x'] });
  const concerned = (object: ConfigMap) =>
    [...concernedSources(observed(object), viewOf(world([colors, shapes], namespaces, watched)))].sort();
  const relabelled = { ...there, metadata: { ...there.metadata, labels: { 'workshop.io/managed': 'true' } } };
  const cases: Readonly<Record<string, readonly [object: ConfigMap, keys: readonly string[]]>> = {
    'a source concerns itself': [colors, ['team-a/colors']],
    'also when its request is bad': [source('team-a/x', { 'deletion-policy': '' }), ['team-a/x']],
    'a companion concerns its source': [there, ['team-a/colors']],
    'a companion whose label is gone concerns its source': [
      stripped(there, 'workshop.io/managed'),
      ['team-a/colors'],
    ],
    '[M6] a companion labelled as a source concerns its source, and is not one itself': [
      relabelled,
      ['team-a/colors'],
    ],
    '[R6] a companion whose source reference was stripped concerns the source that asks for its name': [
      stripped(there, 'workshop.io/source'),
      ['team-a/colors'],
    ],
    '[R6] a companion whose source reference is not a key concerns the source that asks for its name': [
      companion(colors, 'team-b/colors-synced', { annotations: { 'workshop.io/source': 'nonsense' } }),
      ['team-a/colors'],
    ],
    '[R7] an object at a name concerns the source that asks for the name': [
      configMap('team-a/shapes-synced'),
      ['team-a/shapes'],
    ],
    '[R7] another source’s companion concerns that source and the one that asks for the name': [
      companion(source('x/y'), 'team-b/colors-synced'),
      ['team-a/colors', 'x/y'],
    ],
    'a source at a name that another asks for concerns both': [
      source('team-a/shapes-synced'),
      ['team-a/shapes', 'team-a/shapes-synced'],
    ],
    '[R5] the companion of a missing source concerns the source’s key': [
      companion(source('x/y'), 'x/y-synced'),
      ['x/y'],
    ],
    '[P2] a companion whose source is in a namespace that is not watched concerns nobody': [
      companion(source('unwatched/y'), 'team-b/y-synced'),
      [],
    ],
    'an orphan without a reference, at a name that nobody asks for, concerns nobody': [
      stripped(companion(source('x/y'), 'x/y-synced'), 'workshop.io/source'),
      [],
    ],
    'a companion in a namespace that the source does not target concerns the source that it refers to': [
      companion(colors, 'team-c/colors-synced'),
      ['team-a/colors'],
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [object, keys]]) => {
    expect(concerned(object)).toEqual(keys);
  });
});

describe('[R1] the earlier state of an object concerns others than the later one', () => {
  const colours = configMap('team-a/colours', { labels: { 'workshop.io/managed': 'values' } });
  const cases: Readonly<Record<string, readonly [earlier: ConfigMap, later: ConfigMap, others: boolean]>> = {
    '[R4] if it was a source': [shapes, stripped(shapes, 'workshop.io/managed'), true],
    '[V3] if it held values': [colours, stripped(colours, 'workshop.io/managed'), true],
    '[R6] if it referred to another source': [there, stripped(there, 'workshop.io/source'), true],
    'but not if it is what it was': [shapes, shapes, false],
    '[V5] nor if its values are others': [colours, { ...colours, data: { a: 'b' } }, false],
  };
  test.for(Object.entries(cases))('%s', ([, [earlier, later, others]]) => {
    expect(concernedOthers(observed(earlier), observed(later), viewOf(world([])))).toBe(others);
  });
});

describe('[R7] two sources that ask for one name', () => {
  const first = source('team-a/colors', { 'target-namespaces': 'team-b' });
  const second = source('team-c/colors', { 'target-namespaces': 'team-b' });
  const both = ['team-a/colors', 'team-c/colors'];
  const concerned = (object: ConfigMap, ...others: readonly ConfigMap[]) =>
    [...concernedSources(observed(object), viewOf(world([first, second, ...others], namespaces)))].sort();
  const theirs = companion(first, 'team-b/colors-synced');

  test('the companion of one does not concern the other while it is there', () => {
    expect(concerned(theirs, theirs)).toEqual(['team-a/colors']);
  });

  test('it does when it is deleted, loses its marks, or is no longer asked for', () => {
    expect(concerned(theirs)).toEqual(both);
    const lost = stripped(theirs, 'workshop.io/source', 'workshop.io/source-uid');
    expect(concerned(lost, lost)).toEqual(both);
    const narrowed = source('team-a/colors', { 'target-namespaces': 'team-a' });
    expect(concerned(theirs, narrowed, theirs)).toEqual(both);
  });
});

describe('[W1] the sources that a change of a Namespace concerns', () => {
  const dev = observedNamespace('team-b', { labels: { env: 'dev' } });
  const prod = observedNamespace('team-b', { labels: { env: 'prod' } });
  const selecting = observed(source('team-a/colors', { 'target-namespace-selector': 'env=dev' }));

  test('a source that matches it before or after', () => {
    expect(isConcernedByNamespace(selecting, dev, prod)).toBe(true);
    expect(isConcernedByNamespace(selecting, prod, dev)).toBe(true);
    expect(isConcernedByNamespace(selecting, dev, undefined)).toBe(true);
    expect(isConcernedByNamespace(selecting, undefined, dev)).toBe(true);
  });

  test('[P2] a source that may match a Namespace that cannot be read', () => {
    const unreadable = unreadableNamespace('team-b');
    expect(isConcernedByNamespace(selecting, unreadable, prod)).toBe(true);
    const without = observed(
      source('team-a/colors', { 'target-namespaces': '!team-b', 'target-namespace-selector': 'env=dev' }),
    );
    expect(isConcernedByNamespace(without, unreadable, prod)).toBe(false);
  });

  test('[D6] a source to which it becomes a canary, or no longer is one', () => {
    const careful = (canary: string) =>
      observed(source('team-a/colors', { 'target-namespaces': '*', 'keep-revisions': '1', canary }));
    expect(isConcernedByNamespace(careful('env=dev'), dev, prod)).toBe(true);
    expect(isConcernedByNamespace(careful('env=dev'), prod, dev)).toBe(true);
    expect(isConcernedByNamespace(careful('env=qa'), dev, prod)).toBe(false);
    const beside = observed(source('team-b/colors', { 'keep-revisions': '1', canary: 'env=dev' }));
    expect(isConcernedByNamespace(beside, dev, prod)).toBe(true);
    expect(targetIndexValuesOf(beside)).toEqual(['=team-b']);
  });

  test('not a source that never matches it, or has no targets', () => {
    expect(isConcernedByNamespace(selecting, prod, prod)).toBe(false);
    expect(isConcernedByNamespace(selecting, undefined, undefined)).toBe(false);
    expect(isConcernedByNamespace(observed(shapes), dev, prod)).toBe(false);
    expect(isConcernedByNamespace(observed(there), dev, prod)).toBe(false);
    const bad = observed(source('a/b', { 'target-namespaces': '*', 'deletion-policy': 'x' }));
    expect(isConcernedByNamespace(bad, dev, prod)).toBe(false);
  });

  test('a source without valid targets is in no index', () => {
    expect(targetIndexValuesOf(observed(shapes))).toEqual([]);
    expect(targetIndexValuesOf(observed(there))).toEqual([]);
    expect(targetIndexValuesOf(observed(source('a/b', { 'target-namespaces': '' })))).toEqual([]);
  });

  test('a namespace is looked up under at most 66 values', () => {
    expect(targetIndexValues('a'.repeat(63))).toHaveLength(66);
  });

  const dependent: Readonly<Record<string, readonly [object: ConfigMap, depends: boolean]>> = {
    'a source that names targets': [colors, true],
    'not a source that names none': [shapes, false],
    '[D6] a source that names none, with canaries by their labels': [
      source('team-a/shapes', { 'keep-revisions': '1', canary: 'env=dev' }),
      true,
    ],
    '[R13] not a source with an invalid request': [
      source('a/b', { 'target-namespaces': '*', 'deletion-policy': 'x' }),
      false,
    ],
    '[P3] a companion in another namespace than its source': [there, true],
    '[P3] such a companion whose label was stripped': [stripped(there, 'workshop.io/managed'), true],
    '[P3] a companion with only the uid left': [stripped(there, 'workshop.io/source'), true],
    'not a companion beside its source': [companion(shapes, 'team-a/shapes-synced'), false],
    '[D2] one beside its source that is held': [
      companion(shapes, 'team-a/shapes-synced', { annotations: { 'workshop.io/held': '0123abcd' } }),
      true,
    ],
    'not what names no source': [configMap('team-b/x'), false],
  };
  test.for(Object.entries(dependent))(
    'namespaces are needed to decide about: %s',
    ([, [object, depends]]) => {
      expect(dependsOnNamespaces(observed(object), vocabulary)).toBe(depends);
    },
  );

  const unit = fc.constantFrom('a', 'b', '1');
  const name = fc.string({ unit, minLength: 1, maxLength: 4 });
  const item = fc.tuple(
    fc.constantFrom('', '', '!'),
    fc.oneof(
      name,
      name.map((text) => `${text}*`),
      fc.constant('*'),
    ),
  );
  const list = fc
    .array(item, { minLength: 1, maxLength: 4 })
    .map((items) => items.map((parts) => parts.join('')).join());
  const env = fc.constantFrom('dev', 'qa');
  const asks = fc.record(
    { 'target-namespaces': list, 'target-namespace-selector': env.map((value) => `env=${value}`) },
    { requiredKeys: [] },
  );

  test('the index finds every source that a plain search finds', () => {
    fc.assert(
      fc.property(fc.array(asks, { maxLength: 6 }), name, env, (allAsks, namespaceName, label) => {
        const after = observedNamespace(namespaceName, { labels: { env: label } });
        const sources = allAsks.map((each, number) => observed(source(`a/s${number}`, each)));
        const values = new Set(targetIndexValues(namespaceName));
        const indexed = sources.filter((each) =>
          targetIndexValuesOf(each).some((value) => values.has(value)),
        );
        const searched = sources.filter((each) => {
          const targets = each.request?.ok ? each.request.value.targets : undefined;
          return targets !== undefined && matchesTargets(targets, after);
        });
        expect(indexed.filter((each) => isConcernedByNamespace(each, undefined, after))).toEqual(searched);
      }),
      { numRuns: 1_000 },
    );
  });
});
