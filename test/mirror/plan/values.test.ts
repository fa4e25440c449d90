import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { remarksOn } from '../../../src/mirror/explain/remarks.ts';
import { usesOf } from '../../../src/mirror/observe/observed-config-map.ts';
import {
  concernedOthers,
  concernedSources,
  dependsOnNamespaces,
  isConcernedByNamespace,
  targetIndexValuesOf,
} from '../../../src/mirror/plan/concerns.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { entriesInWords, inventoryOf } from '../inventory-of.ts';
import {
  companion,
  configMap,
  namespace,
  observed,
  observedNamespace,
  source,
  unreadableNamespace,
  vocabulary,
} from '../wire.ts';
import { inWords, planFor, viewOf, world } from '../world.ts';

const KEY = 'home/app';
const data = { 'a.yaml': '$(mirror.label.tier) $(mirror.value.title)' };
const asks = { 'target-namespaces': 'team-*', 'render-keys': '*', 'values-from': 'options' };
const app = source(KEY, asks, { data });
const values = (parts: StringMap, name = 'options', label = 'values') =>
  configMap(`home/${name}`, { labels: { 'workshop.io/managed': label }, data: parts });
const options = values({ title: 'Garden' });
const gold = namespace('team-a', { labels: { tier: 'gold' } });
const none = namespace('team-b');
/** The companion as it is settled, but for its source reference. */
const there = (name: string, text: string) => {
  const rendered: ConfigMap = { ...app, data: { 'a.yaml': text } };
  return companion(rendered, `${name}/app-synced`);
};
const NO_LABEL = 'a.yaml: $(mirror.label.tier): the namespace has no such label';

describe('[V4] a plan', () => {
  const plan = (objects: readonly ConfigMap[], namespaces = [gold, none]) =>
    inWords(planFor(KEY, world([app, ...objects], namespaces)));

  test('creates where all is resolved, and nothing elsewhere', () => {
    expect(plan([options])).toEqual([
      'team-a/app-synced: create, missing; it did not exist',
      `team-b/app-synced: none, unresolved; ${NO_LABEL}`,
    ]);
  });

  test('heals where all is resolved, and leaves what it cannot render as it is', () => {
    expect(plan([options, there('team-a', 'gold Garden'), there('team-b', 'mine')])).toEqual([
      'team-a/app-synced: none, in sync; ',
      `team-b/app-synced: none, unresolved; ${NO_LABEL}`,
    ]);
    expect(plan([options, there('team-a', 'gold Park')])[0]).toBe(
      'team-a/app-synced: update, drifted; differs in content, annotation workshop.io/source-checksum',
    );
  });

  test('leaves everything as it is without the values', () => {
    for (const lacking of [
      [],
      [values({ title: 'Garden' }, 'options', 'companion')],
      [values({ title: 'x' }, 'options', 'true')],
    ]) {
      expect(plan([...lacking, there('team-a', 'gold Garden')], [gold])).toEqual([
        'team-a/app-synced: none, unresolved; a.yaml: $(mirror.value.title): there is no ConfigMap home/options labelled workshop.io/managed=values',
      ]);
    }
  });

  test('[R6] says first what else is in the way', () => {
    expect(
      plan(
        [options, configMap('team-b/app-synced', { labels: { 'workshop.io/managed': 'companion' } })],
        [none],
      ),
    ).toEqual([
      'team-b/app-synced: none, conflict; a ConfigMap with this name exists and is not managed by mirror-controller',
    ]);
  });

  test('[R4] removes a companion where the source asks for none, resolved or not', () => {
    expect(plan([options, there('other', 'x')], [namespace('other')])).toEqual([
      'other/app-synced: delete, unwanted; the source no longer targets the namespace',
    ]);
  });

  test('[C3] is told as invalid, and values are told of not at all', () => {
    const of = world([app, options, there('team-b', 'mine'), values({}, 'unused')], [gold, none]);
    expect(entriesInWords(inventoryOf(of))).toEqual([
      'home/app → team-a/app-synced: missing, create; it did not exist',
      `home/app → team-b/app-synced: invalid, none; ${NO_LABEL}`,
    ]);
  });
});

describe('[V4] the source is told once for each reason', () => {
  const remarks = (objects: readonly ConfigMap[], names: readonly string[]) => {
    const namespaces = names.map((name) =>
      namespace(name, name.startsWith('team-gold') ? { labels: { tier: 'gold' } } : {}),
    );
    const of = world([app, ...objects], namespaces);
    return remarksOn(observed(app), planFor(KEY, of), viewOf(of));
  };

  test('however many namespaces there are', () => {
    expect(remarks([options], ['team-z', 'team-gold', 'team-b', 'team-c'])).toEqual([
      {
        kind: 'unresolved',
        text: `nothing is written in team-b and 2 more: ${NO_LABEL}`,
        topic: `team-b: ${NO_LABEL}`,
      },
    ]);
    expect(remarks([options], ['team-b', 'team-gold'])).toEqual([
      { kind: 'unresolved', text: `nothing is written in team-b: ${NO_LABEL}`, topic: `team-b: ${NO_LABEL}` },
    ]);
    expect(remarks([options], ['team-gold'])).toEqual([]);
  });

  test('and reasons are counted from the fourth on', () => {
    const step = (at: number) =>
      ({ action: 'none', companion: `n${at}/x`, state: 'unresolved', reason: `because ${at}` }) as never;
    const plain = observed(source('home/plain'));
    const texts = remarksOn(plain, [5, 2, 4, 1, 3].map(step), viewOf(world([]))).map(({ text }) => text);
    expect(texts).toEqual([
      'nothing is written in n1: because 1',
      'nothing is written in n2: because 2',
      'nothing is written in n3: because 3',
      '2 more reasons',
    ]);
  });
});

describe('[V3] values concern', () => {
  const withoutUse = source('home/idle', { ...asks, 'render-keys': 'none' }, { data });
  const withoutValues = source('home/names', asks, { data: { k: '$(mirror.namespace)' } });
  const elsewhere = source('other/app', asks, { data });
  const view = viewOf(world([app, withoutUse, withoutValues, elsewhere, options, source('home/plain')]));
  const concerned = (object: ConfigMap) => [...concernedSources(observed(object), view)];

  test('the sources beside them that use a value', () => {
    expect(concerned(options)).toEqual([KEY]);
    expect(concerned(values({}, 'unused'))).toEqual([]);
    expect(concerned(values({}, 'options', 'true'))).toEqual(['home/options']);
  });

  test('also when they lose their label', () => {
    const changed = observed(values({}, 'options', 'companion'));
    expect(concernedOthers(observed(options), changed, view)).toBe(true);
    expect(concernedOthers(observed(options), observed(values({ title: 'x' })), view)).toBe(false);
  });

  test('[M6] and a companion that is labelled as values is none', () => {
    const labels = { 'workshop.io/managed': 'values' };
    const marked = [
      companion(source('home/x'), 'home/options', { labels }),
      configMap('home/options', { labels, annotations: { 'workshop.io/source': 'home/x' } }),
      configMap('home/options', { labels, annotations: { 'workshop.io/source-uid': 'x' } }),
    ];
    for (const object of marked) expect(concerned(object)).not.toContain(KEY);
  });
});

describe('[V5] a change of a namespace concerns a source', () => {
  const before = observedNamespace('team-a', { labels: { tier: 'gold', other: '1' } });
  const concerns = (asking: ConfigMap, after: Parameters<typeof observedNamespace>[1], name = 'team-a') =>
    isConcernedByNamespace(observed(asking), before, observedNamespace(name, after));
  const plain = source('home/plain', { 'target-namespaces': 'team-*' });

  test('if a label is changed that a placeholder uses', () => {
    expect(concerns(app, { labels: { tier: 'iron', other: '1' } })).toBe(true);
    expect(concerns(app, { labels: { other: '1' } })).toBe(true);
    expect(concerns(app, { labels: { tier: 'gold', other: '2' } })).toBe(false);
    expect(concerns(plain, { labels: { tier: 'iron' } })).toBe(false);
  });

  test('if its consent or its life is changed, or what the controller may read of it', () => {
    for (const asking of [app, plain]) {
      expect(concerns(asking, { labels: { tier: 'gold', other: '1' }, accepts: '' })).toBe(true);
      expect(concerns(asking, { labels: { tier: 'gold', other: '1' }, terminating: true })).toBe(true);
      expect(isConcernedByNamespace(observed(asking), before, unreadableNamespace('team-a'))).toBe(true);
    }
  });

  test('if a selector matches it, or no longer does', () => {
    const selecting = source('home/selecting', { 'target-namespace-selector': 'tier=gold' });
    expect(concerns(selecting, { labels: { tier: 'iron' } })).toBe(true);
    expect(concerns(selecting, { labels: { tier: 'gold' } })).toBe(false);
    const becoming = observedNamespace('team-a');
    expect(isConcernedByNamespace(observed(selecting), becoming, before)).toBe(true);
  });

  test('[D6] if it becomes a canary, or no longer is one', () => {
    const rollout = { 'target-namespaces': 'team-*', 'keep-revisions': '2', canary: 'tier=gold' };
    expect(concerns(source('home/canary', rollout), { labels: { tier: 'iron', other: '1' } })).toBe(true);
    expect(concerns(source('home/canary', rollout), { labels: { tier: 'gold', other: '2' } })).toBe(false);
  });

  test('[D5] if any label is changed and a revision may use it', () => {
    const pinned = { ...asks, 'keep-revisions': '2', pin: '01234567' };
    const plain = { k: 'no placeholder' };
    expect(concerns(source('home/pinned', pinned, { data: plain }), { labels: { tier: 'gold' } })).toBe(true);
    const { 'render-keys': _, ...unrendered } = pinned;
    expect(concerns(source('home/pinned', unrendered, { data }), { labels: { tier: 'gold' } })).toBe(false);
  });

  test('beside it, if it uses a label', () => {
    const beside = observed(
      source('team-a/x', { 'render-keys': '*' }, { data: { k: '$(mirror.label.tier)' } }),
    );
    expect(targetIndexValuesOf(beside)).toEqual(['=team-a']);
    expect(dependsOnNamespaces(beside, vocabulary)).toBe(true);
    expect(isConcernedByNamespace(beside, before, observedNamespace('team-a'))).toBe(true);
    expect(isConcernedByNamespace(beside, undefined, observedNamespace('team-b'))).toBe(false);
    const without = observed(
      source('team-a/x', { 'render-keys': '*' }, { data: { k: '$(mirror.namespace)' } }),
    );
    expect(targetIndexValuesOf(without)).toEqual([]);
    expect(dependsOnNamespaces(without, vocabulary)).toBe(false);
    expect(isConcernedByNamespace(without, before, observedNamespace('team-a'))).toBe(false);
  });
});

describe('[V2] what is remembered of a source', () => {
  const uses = (asking: StringMap, text: StringMap) =>
    usesOf(observed(source('a/b', { 'render-keys': '*', ...asking }, { data: text })));

  test('is which labels it uses, and whether values', () => {
    expect(uses({}, { k: '$(mirror.label.a) $(mirror.label.b/c)', l: '$(mirror.label.a)' })).toEqual({
      labels: ['a', 'b/c'],
      values: false,
    });
    expect(uses({}, { k: '$(mirror.value.a) $(mirror.x)' })).toEqual({ labels: [], values: true });
    expect(uses({}, { k: '$(mirror.namespace)' })).toEqual({ labels: [], values: false });
  });

  test('is nothing if there is nothing to render', () => {
    expect(uses({}, { k: 'text $(date)' })).toBeUndefined();
    expect(uses({ 'render-keys': 'l' }, { k: '$(mirror.namespace)' })).toBeUndefined();
    expect(uses({ 'exclude-keys': 'l' }, { k: '', l: '$(mirror.namespace)' })).toBeUndefined();
    expect(usesOf(observed(source('a/b', {}, { data: { k: '$(mirror.namespace)' } })))).toBeUndefined();
  });

  test('is never a label that cannot exist, however long its name', () => {
    expect(uses({}, { k: `$(mirror.label.${'x'.repeat(318)})` })).toEqual({ labels: [], values: false });
  });

  test('[R13] more than 1,000 different placeholders are invalid', () => {
    const text = (count: number) =>
      Array.from({ length: count }, (_, at) => `$(mirror.value.v${at})`)
        .join('')
        .repeat(2);
    const request = (count: number) =>
      observed(source('a/b', { 'render-keys': 'k' }, { data: { k: text(count) } })).request;
    expect(request(1000)?.ok).toBe(true);
    expect(request(1001)).toEqual({
      ok: false,
      problem: 'workshop.io/render-keys: more than 1000 different placeholders; split the source',
    });
  });
});
