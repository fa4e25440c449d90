import { describe, expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { remarksOn, remarksOnOrphans } from '../../../src/mirror/explain/remarks.ts';
import { type StringMap, vocabularyOf } from '../../../src/mirror/vocabulary.ts';
import { companion, namespace, observed, source } from '../wire.ts';
import { boundsOf, planFor, viewOf, type World, world } from '../world.ts';

const key = 'team-a/colors' as ObjectKey;
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
  return remarksIn(world([source(key, asks)], namespaces, boundsOf({ requireConsent })));
}

function remarksIn(of: World): readonly string[] {
  const view = viewOf(of);
  const asking = view.configMap(key) ?? expect.fail('no source');
  return remarksOn(asking, planFor(key, of), view).map(({ text }) => text);
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
    'none that is its own': [{ 'target-namespaces': 'team-*' }, []],
    'none if it has no targets': [{}, []],
    'none that says something': [{ 'target-namespaces': 'o*, c*, ma*' }, []],
  };
  test.for(Object.entries(cases))('%s', ([, [asks, expected]]) => {
    expect(remarks(asks)).toEqual(expected);
  });

  test('none in which a companion is deleted', () => {
    const there = companion(source(key), 'silent/colors-synced');
    const asking = source(key, { 'target-namespaces': '*' });
    expect(remarksIn(world([asking, there], namespaces, boundsOf({ requireConsent: true })))).toEqual([one]);
  });

  test('none if consent is not required', () => {
    expect(remarks({ 'target-namespaces': '*' }, false)).toEqual([]);
  });
});

test('[R13] [V2] render-keys that select no text with a placeholder are reported', () => {
  const about = (data: StringMap) => {
    const app = observed(source('home/app', { 'render-keys': 'app.*' }, { data }));
    return remarksOn(app, [], viewOf(world([]))).map(({ text }) => text);
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

describe('[D2] of deletions that are held', () => {
  const asking = (allowed: StringMap) => source(key, { 'target-namespaces': 'other', ...allowed });
  const marked = (of: ConfigMap) =>
    companion(of, 'open/colors-synced', { annotations: { 'workshop.io/held': 'aaaaaaaa' } });
  const how =
    '1 deletion is held (wave aaaaaaaa); if that is intended: mirror-controller release team-a/colors, or annotate';

  test.for([
    [{}, ''],
    [{ 'allow-deletes': ' ' }, ''],
    [{ 'allow-deletes': 'bbbbbbbb, cccccccc' }, '; "bbbbbbbb,cccccccc" does not release them'],
  ])('a wave on the source that is not theirs is named: %o', ([allowed, others]) => {
    const of = asking(allowed as StringMap);
    const [remark] = remarksIn(world([of, marked(of)], [...namespaces, namespace('other')]));
    expect(remark).toBe(`${how} it with workshop.io/allow-deletes=aaaaaaaa${others}`);
  });

  test('so is one on the Namespace of a source that is gone', () => {
    const home = namespace('team-a', { annotations: { 'workshop.io/allow-deletes': 'bbbbbbbb' } });
    const of = world([marked(asking({}))], [home, namespace('open')]);
    const remarks = remarksOnOrphans(key, undefined, planFor(key, of), viewOf(of));
    expect(remarks.map(({ text }) => text)).toEqual([
      `${how} Namespace team-a with workshop.io/allow-deletes=aaaaaaaa; "bbbbbbbb" does not release them`,
    ]);
  });

  test('release is told which --domain it is, unless that is the default', () => {
    const of = world([marked(asking({}))], [namespace('team-a'), namespace('open')]);
    const view = viewOf(of);
    const other = { ...view, settings: { ...view.settings, vocabulary: vocabularyOf('other.io') } };
    const remarks = remarksOnOrphans(key, undefined, planFor(key, of), other);
    expect(remarks.map(({ text }) => text)).toEqual([
      expect.stringContaining(
        ': mirror-controller release team-a/colors --domain other.io, or annotate Namespace team-a with other.io/allow',
      ),
    ]);
  });
});
