import { describe, expect, test } from 'vitest';
import { objectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { claimIndexValues, claims, claimsOf, precedingClaimant } from '../../../src/mirror/plan/claims.ts';
import { configMap, namespace, observed, source } from '../wire.ts';
import { boundsOf, viewOf, type World, world } from '../world.ts';

const key = (text: string) => {
  const [namespaceName, name = ''] = text.split('/');
  return objectKey(namespaceName, name);
};
const claimed = (object: ConfigMap, companion: string, of: World) =>
  claims(observed(object), key(companion), viewOf(of));

describe('[R6] a source claims', () => {
  const namespaces = [
    namespace('team-a'),
    namespace('team-b'),
    namespace('kube-system'),
    namespace('closed', { accepts: '' }),
    namespace('going', { terminating: true }),
  ];
  const here = world([], namespaces);
  const beside = source('team-a/colors');
  const everywhere = source('team-a/colors', { 'target-namespaces': '*, gone' });
  const cases: Readonly<Record<string, readonly [object: ConfigMap, companion: string, claims: boolean]>> = {
    'the companion beside it': [beside, 'team-a/colors-synced', true],
    'no other name': [beside, 'team-a/colors', false],
    'no other namespace without targets': [beside, 'team-b/colors-synced', false],
    'its companion in a namespace that it targets': [everywhere, 'team-b/colors-synced', true],
    'its companion in a namespace that its selector matches, although it names others': [
      source('team-a/colors', {
        'target-namespaces': 'x',
        'target-namespace-selector': 'kubernetes.io/metadata.name=team-b',
      }),
      'team-b/colors-synced',
      true,
    ],
    'its companion in its own namespace, when it targets that': [everywhere, 'team-a/colors-synced', true],
    'none in its own namespace when it targets others': [
      source('team-a/colors', { 'target-namespaces': 'team-b' }),
      'team-a/colors-synced',
      false,
    ],
    'none in a namespace that is not there': [everywhere, 'gone/colors-synced', false],
    'none in a forbidden namespace': [everywhere, 'kube-system/colors-synced', false],
    'none where it is not accepted': [everywhere, 'closed/colors-synced', false],
    'none in a terminating namespace': [everywhere, 'going/colors-synced', false],
    'none beside it in a terminating namespace': [source('going/colors'), 'going/colors-synced', false],
    'never itself': [
      source('team-a/colors', { 'target-namespaces': '*', 'companion-name': '{name}' }),
      'team-a/colors',
      false,
    ],
    '[R3] nothing while it is being deleted': [
      source('team-a/colors', {}, { deleting: true }),
      'team-a/colors-synced',
      false,
    ],
    '[R13] nothing when its request is bad': [
      source('team-a/colors', { 'deletion-policy': 'x' }),
      'team-a/colors-synced',
      false,
    ],
    '[R13] nothing when it selects none of its keys': [
      source('team-a/colors', { 'include-keys': 'colours' }),
      'team-a/colors-synced',
      false,
    ],
    'nothing when it is not a source': [configMap('team-a/colors'), 'team-a/colors-synced', false],
  };
  test.for(Object.entries(cases))('%s', ([, [object, companion, expected]]) => {
    expect(claimed(object, companion, here)).toBe(expected);
  });

  test('a companion beside it without knowing any namespaces', () => {
    expect(claimed(beside, 'team-a/colors-synced', world([], [], boundsOf({ deny: '*' })))).toBe(true);
  });

  test.for(Object.entries(cases).filter(([, [, , expected]]) => expected))(
    'and is found by the index: %s',
    ([, [object, companion]]) => {
      const values = claimsOf(observed(object));
      expect(claimIndexValues(key(companion)).filter((value) => values.includes(value))).not.toEqual([]);
    },
  );

  test('and is not found for a namespace that it does not name, whoever else has a source of that name', () => {
    const values = claimsOf(observed(source('team-a/colors', { 'target-namespaces': 'x, y, !z' })));
    expect(claimIndexValues(key('team-b/colors-synced')).filter((value) => values.includes(value))).toEqual(
      [],
    );
  });

  test('and is not in the index if it cannot claim', () => {
    expect(claimsOf(observed(configMap('team-a/colors')))).toEqual([]);
    expect(claimsOf(observed(source('team-a/colors', { 'deletion-policy': 'x' })))).toEqual([]);
    expect(claimsOf(observed(beside))).not.toEqual(claimsOf(observed(source('team-b/colors'))));
  });
});

describe('[R7] of several sources that ask for one free name', () => {
  const asks = { 'target-namespaces': 'prod', 'companion-name': 'shared' };
  const at = (where: string, createdAt: string, more = {}) =>
    source(where, { ...asks, ...more }, { createdAt });
  const preceding = (one: ConfigMap, ...others: ConfigMap[]) => {
    const of = world([...others, one], [namespace('prod')]);
    return precedingClaimant(observed(one), key('prod/shared'), viewOf(of))?.key;
  };
  const early = '2026-01-01T00:00:00Z';
  const late = '2026-01-01T00:00:01Z';

  test('the oldest comes first', () => {
    expect(preceding(at('a/x', late), at('z/z', early))).toBe('z/z');
    expect(preceding(at('z/z', early), at('a/x', late))).toBeUndefined();
  });

  test('if they are equally old, namespace and then name decide', () => {
    expect(preceding(at('b/a', early), at('a/z', early))).toBe('a/z');
    expect(preceding(at('a/z', early), at('b/a', early))).toBeUndefined();
    expect(preceding(at('a/b', early), at('a/a', early))).toBe('a/a');
  });

  test('namespace and name are compared separately', () => {
    expect(preceding(at('a-b/x', early), at('a/x', early))).toBe('a/x');
    expect(preceding(at('a/x', early), at('a-b/x', early))).toBeUndefined();
  });

  test('the first of many is returned', () => {
    expect(preceding(at('c/c', late), at('b/b', late), at('a/a', late), at('d/d', early))).toBe('d/d');
  });

  test('a single source comes first', () => {
    expect(preceding(at('a/x', late))).toBeUndefined();
  });

  test('a source that does not ask for the name, or may not have it, does not count', () => {
    const bad = { 'deletion-policy': 'x' };
    expect(preceding(at('b/x', late), at('a/x', early, { 'companion-name': 'other' }))).toBeUndefined();
    expect(preceding(at('b/x', late), at('a/x', early, { 'target-namespaces': 'qa' }))).toBeUndefined();
    expect(preceding(at('b/x', late), at('a/x', early, bad))).toBeUndefined();
    expect(
      preceding(at('b/x', late), source('a/x', asks, { createdAt: early, deleting: true })),
    ).toBeUndefined();
  });
});
