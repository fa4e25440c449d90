import { describe, expect, test } from 'vitest';
import { type ObservedNamespace, observeNamespace } from '../../../src/mirror/observe/observed-namespace.ts';
import { placementIn } from '../../../src/mirror/plan/placement.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import {
  type NamespaceParts,
  namespace,
  observed,
  observedNamespace,
  source,
  unreadableNamespace,
  vocabulary,
} from '../wire.ts';
import { boundsOf } from '../world.ts';

type Flags = Parameters<typeof boundsOf>[0];

/** A source of team-a with these annotations. */
function targeting(asks: StringMap) {
  const asking = observed(source('team-a/colors', asks));
  if (!asking.request?.ok) throw new Error('a bad request');
  return [asking, asking.request.value] as const;
}

/** A view in which every namespace is this one. */
const lookup = (namespace: ObservedNamespace | undefined, flags?: Flags) => ({
  settings: { vocabulary, bounds: boundsOf(flags), brake: undefined },
  namespace: () => namespace,
});

/** Where a source of team-a that targets every namespace is placed in `name`. */
function placement(
  name: string,
  parts: NamespaceParts,
  flags?: Flags,
  asks: StringMap = { 'target-namespaces': '*' },
) {
  return placementIn(name, ...targeting(asks), lookup(observedNamespace(name, parts), flags));
}

const desired = { kind: 'desired' };

describe('[P1] the administrator limits where the controller writes', () => {
  const forbidden = (reason: string) => ({ kind: 'forbidden', reason });
  const cases: Readonly<Record<string, readonly [name: string, flags: Flags, expected: object]>> = {
    'by default everywhere': ['prod', {}, desired],
    'by default not in kube-*': [
      'kube-system',
      {},
      forbidden('the namespace is among --deny-target-namespaces'),
    ],
    'in kube-* when nothing is denied': ['kube-system', { deny: '' }, desired],
    'only where it is allowed': [
      'prod',
      { allow: 'team-*' },
      forbidden('the namespace is not among --allow-target-namespaces'),
    ],
    'where it is allowed by a prefix': ['team-b', { allow: 'team-*' }, desired],
    'nowhere when nothing is allowed': [
      'prod',
      { allow: '' },
      forbidden('the namespace is not among --allow-target-namespaces'),
    ],
    'denied wins over allowed': [
      'prod',
      { allow: 'prod', deny: 'prod' },
      forbidden('the namespace is among --deny-target-namespaces'),
    ],
    "never in question for the source's own namespace": ['team-a', { allow: 'x', deny: '*' }, desired],
    '[P2] not outside --namespaces': [
      'prod',
      { namespaces: ['team-a'] },
      forbidden('the namespace is not among --namespaces'),
    ],
    '[P2] inside --namespaces': ['prod', { namespaces: ['team-a', 'prod'] }, desired],
    '[P2] a denied namespace stays denied inside --namespaces': [
      'prod',
      { namespaces: ['team-a', 'prod'], deny: 'prod' },
      forbidden('the namespace is among --deny-target-namespaces'),
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [name, flags, expected]]) => {
    expect(placement(name, {}, flags)).toEqual(expected);
  });

  test('the bounds win over a terminating namespace and over refused consent', () => {
    expect(placement('kube-x', { terminating: true, accepts: '' }).kind).toBe('forbidden');
  });
});

describe('[P3] a namespace accepts companions or refuses them', () => {
  const refused = (reason: string) => ({ kind: 'unconsented', reason, unsaid: false });
  const malformed = (problem: string) => ({
    kind: 'forbidden',
    reason: `the namespace's accept-mirrors-from is malformed, so nothing new is accepted: ${problem}`,
  });
  const notFrom = refused("the namespace's accept-mirrors-from does not accept team-a");
  const unsaid = {
    ...refused('the namespace has no accept-mirrors-from, and --require-consent is set'),
    unsaid: true,
  };
  const consent = { requireConsent: true };
  const cases: Readonly<
    Record<string, readonly [accepts: string | undefined, flags: Flags, expected: object]>
  > = {
    'without a word it accepts': [undefined, {}, desired],
    'without a word it refuses when consent is required': [undefined, consent, unsaid],
    'the source namespace by name': ['team-a', {}, desired],
    'the source namespace by a prefix': ['platform-*, team-*', consent, desired],
    'everybody by a star': ['*', consent, desired],
    'nobody but those that it names': ['team-b, platform-*', {}, notFrom],
    'nobody by an empty value': ['', {}, notFrom],
    'nobody by blanks and commas': [' , ', {}, notFrom],
    'nobody new by a malformed value': [
      'team-a, team-.*',
      {},
      malformed(
        `"team-.*": regular expressions are not supported; write an exact name, or a prefix that ends in one "*", such as "team-*"`,
      ),
    ],
    'nobody new by an exclusion, which is not allowed there': [
      '*, !team-b',
      {},
      malformed(`"!team-b": exclusions ("!") are not allowed here`),
    ],
  };
  test.for(Object.entries(cases))('%s', ([, [accepts, flags, expected]]) => {
    expect(placement('prod', accepts === undefined ? {} : { accepts }, flags)).toEqual(expected);
  });

  test.for([undefined, '', 'team-b', 'mal.formed'])(
    "the source's own namespace needs none, even where it says %j",
    (accepts) => {
      expect(placement('team-a', accepts === undefined ? {} : { accepts }, consent)).toEqual(desired);
    },
  );

  const unread = (name: string, asks: StringMap) =>
    placementIn(name, ...targeting(asks), lookup(unreadableNamespace(name)));

  test.for(['team-a', 'prod'])('[P2] a Namespace that may not be read, %s, matches no selector', (name) => {
    const expected = {
      kind: 'forbidden',
      reason: 'the controller may not read the Namespace, so the selector cannot be matched',
    };
    expect(unread(name, { 'target-namespace-selector': '!env' })).toEqual(expected);
    expect(unread(name, { 'target-namespace-selector': 'env' })).toEqual(expected);
    const excluded = { 'target-namespaces': `!${name}`, 'target-namespace-selector': '!env' };
    expect(unread(name, excluded)).toEqual({ kind: 'unmatched' });
    expect(unread(name, { 'target-namespaces': 'qa-*' })).toEqual({ kind: 'unmatched' });
  });

  test('[P2] a Namespace that may not be read refuses, and no companion is deleted', () => {
    expect(unread('prod', { 'target-namespaces': 'prod' })).toEqual({
      kind: 'forbidden',
      reason: 'the controller may not read the Namespace, so its consent is unknown',
    });
  });
});

describe('[R13] a namespace that does not exist', () => {
  const absent = (name: string, asks: StringMap, flags?: Flags) =>
    placementIn(name, ...targeting(asks), lookup(undefined, flags)).kind;

  test('is absent if named exactly, and forbidden if the bounds exclude it', () => {
    expect(absent('prod', { 'target-namespaces': 'prod' })).toBe('absent');
    expect(absent('prod', { 'target-namespaces': 'prod' }, { deny: 'prod' })).toBe('forbidden');
    expect(absent('team-a', { 'target-namespaces': 'team-a' })).toBe('absent');
  });

  test('is unmatched otherwise, and matches no selector', () => {
    expect(absent('prod', { 'target-namespaces': 'qa' })).toBe('unmatched');
    expect(absent('prod', { 'target-namespaces': 'prod, !pr*' })).toBe('unmatched');
    expect(absent('prod', { 'target-namespace-selector': '!env' })).toBe('unmatched');
  });
});

describe('[M2] a namespace that the source does not ask for', () => {
  test('is unmatched, whatever else is true', () => {
    const unmatched = { kind: 'unmatched' };
    const asks = { 'target-namespaces': 'team-*' };
    expect(placement('prod', {}, {}, asks)).toEqual(unmatched);
    expect(placement('kube-system', { terminating: true, accepts: '' }, {}, asks)).toEqual(unmatched);
    expect(
      placement('prod', { labels: { env: 'qa' } }, {}, { 'target-namespace-selector': 'env=dev' }),
    ).toEqual(unmatched);
  });

  test('may be its own', () => {
    expect(placement('team-a', {}, {}, { 'target-namespaces': 'team-b' })).toEqual({ kind: 'unmatched' });
  });
});

test('[R10] a terminating namespace is left alone, whether it consents or not', () => {
  expect(placement('prod', { terminating: true })).toEqual({ kind: 'terminating' });
  expect(placement('prod', { terminating: true, accepts: '' })).toEqual({ kind: 'terminating' });
});

test('what is remembered of a Namespace', () => {
  expect(
    observeNamespace(namespace('prod', { labels: { env: 'x' }, accepts: '*' }), vocabulary),
  ).toMatchObject({
    key: 'prod',
    name: 'prod',
    uid: 'uid of prod',
    resourceVersion: '1',
    labels: { 'kubernetes.io/metadata.name': 'prod', env: 'x' },
    active: true,
    acceptMirrorsFrom: '*',
  });
  const bare = { metadata: { name: 'prod', uid: 'u', resourceVersion: '1' } };
  expect(observeNamespace(bare, vocabulary)).toMatchObject({ labels: {}, consent: { kind: 'unsaid' } });
});
