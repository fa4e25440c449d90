import { describe, expect, test } from 'vitest';
import { remarksOn } from '../../../src/mirror/explain/remarks.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { namespace, observed, source, vocabulary } from '../wire.ts';
import { boundsOf, planFor, world } from '../world.ts';

const key = 'team-a/colors';
const namespaces = [
  namespace('team-a'),
  namespace('silent'),
  namespace('mute', { labels: { env: 'dev' } }),
  namespace('closed', { accepts: '' }),
  namespace('malformed', { accepts: '.*' }),
  namespace('open', { accepts: '*' }),
  namespace('kube-system'),
];

function remarks(asks: StringMap, requireConsent = true): readonly string[] {
  const asking = source(key, asks);
  const of = world([asking], namespaces, boundsOf({ requireConsent }));
  return remarksOn(observed(asking), planFor(key, of), vocabulary).map(({ text }) => text);
}

describe('[P3] with --require-consent, matching namespaces without consent are counted for a source:', () => {
  const one = '1 matching namespace has no accept-mirrors-from, and --require-consent is set';
  const two = '2 matching namespaces have no accept-mirrors-from, and --require-consent is set';
  const cases: Readonly<Record<string, readonly [asks: StringMap, expected: readonly string[]]>> = {
    'several, as one count': [{ 'target-namespaces': '*' }, [two]],
    'one that a selector matches': [{ 'target-namespace-selector': 'env=dev' }, [one]],
    'the others, when it names one of them': [{ 'target-namespaces': 'silent, *' }, [one]],
    'none that it names, which get a report of their own': [{ 'target-namespaces': 'silent, mute' }, []],
    'none that it excludes': [{ 'target-namespaces': '*, !silent, !mute' }, []],
    'none that says something': [{ 'target-namespaces': 'o*, c*, ma*' }, []],
  };
  test.for(Object.entries(cases))('%s', ([, [asks, expected]]) => {
    expect(remarks(asks)).toEqual(expected);
  });

  test('none if consent is not required', () => {
    expect(remarks({ 'target-namespaces': '*' }, false)).toEqual([]);
  });
});

test('[R13] [V2] render-keys that select no text with a placeholder are reported', () => {
  const about = (data: StringMap) => {
    const app = observed(source('home/app', { 'render-keys': 'app.*' }, { data }));
    return remarksOn(app, [], vocabulary).map(({ text }) => text);
  };
  const idle = ['workshop.io/render-keys has no effect: no text that it selects has a placeholder'];
  expect(about({ 'app.yaml': '$(mirror.namespace)', other: 'x' })).toEqual([]);
  expect(about({ 'ap.yaml': '$(mirror.namespace)' })).toEqual(idle);
  expect(about({ 'app.yaml': '$(mirror.nothing' })).toEqual(idle);
});

test('[R13] unknown annotations of a valid source are reported', () => {
  expect(remarks({ 'target-namespace': 'team-b' })).toEqual([
    'workshop.io/target-namespace is not an annotation of mirror-controller; did you mean workshop.io/target-namespaces?',
  ]);
  expect(remarks({ 'target-namespaces': 'm*', 'include-key': '*' })).toEqual([
    'workshop.io/include-key is not an annotation of mirror-controller; did you mean workshop.io/include-keys?',
    '1 matching namespace has no accept-mirrors-from, and --require-consent is set',
  ]);
});
