// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of others must pass untouched
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';
import type { ObservedConfigMap } from '../../../src/mirror/observe/observed-config-map.ts';
import { basesOf } from '../../../src/mirror/plan/desired.ts';
import type { Rendered, Rendering } from '../../../src/mirror/render/rendering.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { renderingOf } from '../rendering-of.ts';
import { revisionObject } from '../rollout/revisions.ts';
import { configMap, namespace, observed, source } from '../wire.ts';
import { viewOf, world } from '../world.ts';

/** A ConfigMap of `home` with values. */
function values(name: string, data: StringMap, binaryData: StringMap = {}): ConfigMap {
  return configMap(`home/${name}`, { labels: { 'workshop.io/managed': 'values' }, data, binaryData });
}

interface Options {
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  readonly asks?: StringMap;
  readonly values?: readonly ConfigMap[];
  readonly labels?: Readonly<Record<string, StringMap>>;
  readonly memo?: Map<string, Rendered>;
}

function rendering({ data = {}, binaryData = {}, asks = {}, memo, ...options }: Options): OfOne {
  const others = options.values ?? [];
  const named = others.length > 0 && { 'values-from': others.map(({ metadata }) => metadata.name).join() };
  const object = source('home/colors', { 'render-keys': '*', ...named, ...asks }, { data, binaryData });
  const namespaces = Object.entries(options.labels ?? { team: {} }).map(([name, labels]) =>
    namespace(name, { labels }),
  );
  const all = [object, ...others];
  const base = observed(object);
  const found = renderingOf(base, all, viewOf(world(all, namespaces)), memo);
  if (found === undefined) throw new Error('there is nothing to render');
  return ofOne(found, base);
}

/** Of a source without revisions. */
function ofOne(found: Rendering, base: ObservedConfigMap) {
  return {
    editionIn: (name: string) => found.in(name, base) ?? { unresolved: 'not known' },
    contentIn: (name: string) => found.contentIn(name, base),
    originsIn: (name: string, key?: string) => found.originsIn(name, base, key),
  };
}
type OfOne = ReturnType<typeof ofOne>;

const rendered = (text: string, options: Omit<Options, 'data'> = {}) =>
  rendering({ ...options, data: { k: text } }).contentIn('team').data['k'];
const unresolved = (options: Options) => rendering(options).editionIn('team').unresolved;

describe('[V2] rendering', () => {
  test('fills in names, labels and values, each as often as it occurs', () => {
    const text =
      '$(mirror.namespace)$(mirror.source-namespace)-$(mirror.label.a/b)$(mirror.label.a/b)$(mirror.value.v.w)';
    const options = { values: [values('v', { 'v.w': 'x' })], labels: { team: { 'a/b': '1' } } };
    expect(rendered(text, options)).toBe('teamhome-11x');
  });

  test('fills in no text twice', () => {
    const options = { values: [values('v', { a: '$(mirror.value.b)$(mirror.namespace)', b: 'x' })] };
    expect(rendered('$(mirror.value.a)', options)).toBe('$(mirror.value.b)$(mirror.namespace)');
  });

  test('fills in texts that mean something to String.replace', () => {
    expect(rendered('<$(mirror.value.a)>', { values: [values('v', { a: "$& $' $1 $$" })] })).toBe(
      "<$& $' $1 $$>",
    );
  });

  test('leaves keys that are not named, and binary ones, byte for byte', () => {
    const text = '$(mirror.namespace)';
    const data = { 'a.conf': text, 'a.txt': text };
    const found = rendering({
      data,
      binaryData: { 'b.conf': 'JCg=' },
      asks: { 'render-keys': '*.conf, none' },
    });
    expect(found.contentIn('team')).toEqual({
      data: { 'a.conf': 'team', 'a.txt': text },
      binaryData: { 'b.conf': 'JCg=' },
    });
  });

  test('keeps keys, labels and values named like properties of every object', () => {
    const data: StringMap = JSON.parse('{"__proto__":"$(mirror.value.__proto__)"}');
    const hidden: StringMap = JSON.parse('{"__proto__":"x"}');
    const content = rendering({ data, values: [values('v', hidden)] }).contentIn('team');
    expect(Object.entries(content.data)).toEqual([['__proto__', 'x']]);
    expect(unresolved({ data: { k: '$(mirror.label.constructor)' } })).toMatch(/has no such label/);
    const none = { data: { k: '$(mirror.value.toString)' }, values: [values('v', { a: '' })] };
    expect(unresolved(none)).toMatch(/no such key/);
  });

  // Whatever comes between, it ends where it began: no byte is added, lost or escaped.
  const foreign = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '$(date)',
          '${HOME:-/root}',
          '$$',
          '\\$',
          '`x`',
          '$((1+1))',
          '$(',
          '${',
          '#{bean}',
          '${a.b:c}',
        ),
        fc.constantFrom(
          '{{ .Values.x }}',
          '{{- if }}',
          '}}',
          '${var:=default}',
          '%{x}',
          '$(mirror',
          '$(mirror-x.a)',
        ),
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('$(mirror.')),
      ),
    )
    .map((parts) => parts.join(' '));

  test('leaves text of shells, Java, Helm and Flux as it is', () => {
    fc.assert(
      fc.property(foreign, foreign, (before, after) => {
        const line = after.replaceAll(/[)\n]/g, '');
        expect(rendered(`${before}\n$(mirror.namespace) ${line}`)).toBe(`${before}\nteam ${line}`);
      }),
    );
  });

  test('of what was rendered changes nothing', () => {
    const word = fc.stringMatching(/^[a-z0-9.]{0,8}$/);
    const parts = fc.array(
      fc.oneof(foreign, fc.constantFrom('$(mirror.namespace)', '$(mirror.value.a)', '$(mirror.label.b)')),
    );
    fc.assert(
      fc.property(parts, word, word, (texts, a, b) => {
        const options = { values: [values('v', { a })], labels: { team: { b } } };
        // Without the last, there may be nothing to render.
        const once = rendered(`${texts.join('\n')}\n$(mirror.namespace)`, options) ?? '';
        expect(rendered(`${once}\n$(mirror.namespace)`, options)).toBe(`${once}\nteam`);
      }),
    );
  });

  test('the order of keys, values and labels does not matter', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2')), {
      selector: ([key]) => key,
      minLength: 3,
    });
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const text = '$(mirror.value.a)$(mirror.value.b)$(mirror.label.c)';
        const by = (order: readonly (readonly [string, string])[]) => {
          const map = Object.fromEntries(order);
          return rendering({
            data: { x: text, y: text },
            values: [values('v', map)],
            labels: { team: map },
          }).editionIn('team');
        };
        const sorted = Object.fromEntries(one);
        expect(by(one)).toEqual(by(other.map(([key]) => [key, sorted[key] ?? ''])));
      }),
    );
  });
});

describe('[V3] values', () => {
  test('later ones win', () => {
    const two = [values('a', { x: '1', y: '1' }), values('b', { y: '2' })];
    expect(rendered('$(mirror.value.x)$(mirror.value.y)', { values: two })).toBe('12');
    expect(rendered('$(mirror.value.x)$(mirror.value.y)', { values: two.toReversed() })).toBe('11');
  });

  test('a binary key that wins hides a text', () => {
    const two = [values('a', { x: '1' }), values('b', {}, { x: 'AA==' })];
    expect(unresolved({ data: { k: '$(mirror.value.x)' }, values: two })).toBe(
      'k: $(mirror.value.x): it is binary in ConfigMap home/b',
    );
  });

  test('one that is missing may have had what wins', () => {
    const asks = { 'values-from': 'a, none' };
    expect(unresolved({ data: { k: '$(mirror.value.x)' }, values: [values('a', { x: '1' })], asks })).toBe(
      'k: $(mirror.value.x): there is no ConfigMap home/none labelled workshop.io/managed=values',
    );
  });

  test('one that is missing does not matter where no value is used', () => {
    const found = rendering({ data: { k: '$(mirror.namespace)' }, asks: { 'values-from': 'none' } });
    expect(found.contentIn('team').data).toEqual({ k: 'team' });
  });
});

describe('[V4] what is unresolved is named, and never a value', () => {
  test('by key and placeholder, at most three at once', () => {
    const data = {
      a: '$(mirror.label.x) $(mirror.label.x)',
      b: '$(mirror.y)',
      c: '$(mirror.)',
      d: '$(mirror.value.z)',
    };
    expect(unresolved({ data })).toBe(
      [
        'a: $(mirror.label.x): the namespace has no such label',
        'b: $(mirror.y): it is not a placeholder; there are namespace, source-namespace, label.<key> and value.<key>',
        'c: $(mirror.): it is not a placeholder; there are namespace, source-namespace, label.<key> and value.<key>',
        'and 1 more',
      ].join('; '),
    );
  });

  test('also if it is very long', () => {
    expect(unresolved({ data: { a: `$(mirror.${'x'.repeat(500_000)})` } })?.length).toBeLessThan(300);
  });

  test('an unresolved content is never given out', () => {
    expect(() => rendering({ data: { a: '$(mirror.x)' } }).contentIn('team')).toThrow(TypeError);
  });

  test('a namespace whose labels are not known has none that is used', () => {
    const found = rendering({ data: { k: '$(mirror.label.x)' } });
    expect(found.editionIn('team').unresolved).toMatch(/the namespace has no such label/);
    expect(found.editionIn('unseen').unresolved).toMatch(/the labels of the namespace are not known/);
    expect(rendering({ data: { k: '$(mirror.namespace)' } }).editionIn('unseen').digest).toBeDefined();
  });
});

describe('[V2] at most 1 MiB altogether', () => {
  const MIB = 1024 * 1024;
  const tooLarge = /more than the 1048576 of a ConfigMap/;
  const withValue = (size: number, data: StringMap, binaryData: StringMap = {}) =>
    rendering({ data, binaryData, values: [values('v', { v: 'x'.repeat(size) })] }).editionIn('team');

  test('a content of exactly 1 MiB is rendered', () => {
    expect(withValue(MIB - 4, { k: 'é$(mirror.value.v)', l: 'ab' }).unresolved).toBeUndefined();
    expect(withValue(MIB - 3, { k: 'é$(mirror.value.v)', l: 'ab' }).unresolved).toMatch(tooLarge);
  });

  test('binary keys and keys that are not rendered count', () => {
    expect(withValue(MIB - 3, { k: '$(mirror.value.v)' }, { b: 'AAAA' }).unresolved).toBeUndefined();
    expect(withValue(MIB - 2, { k: '$(mirror.value.v)' }, { b: 'AAAA' }).unresolved).toMatch(tooLarge);
  });

  // Put together it would have 50 GiB.
  test('a value of 1 MiB that is used 50,000 times is refused without being put together', () => {
    expect(withValue(MIB, { k: '$(mirror.value.v)'.repeat(50_000) }).unresolved).toMatch(tooLarge);
  });
});

describe('[V5] editions', () => {
  const tiers = { a: { tier: 'gold', x: '1' }, b: { tier: 'gold', x: '2' }, c: { tier: 'iron' }, d: {} };

  test('the digest is that of the rendered content', () => {
    const found = rendering({ data: { k: '$(mirror.namespace)', l: '' }, binaryData: { b: 'AA==' } });
    expect(found.editionIn('team').digest).toBe(
      digestOf({ data: { k: 'team', l: '' }, binaryData: { b: 'AA==' } }),
    );
  });

  test('are rendered once for each distinct set of texts', () => {
    const memo = new Map<string, Rendered>();
    const found = rendering({ data: { k: '$(mirror.label.tier)' }, labels: tiers, memo });
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => found.editionIn(name));
    expect(a).toBe(b);
    expect(new Set([a, c, d]).size).toBe(3);
    expect(memo.size).toBe(3);
    // The next pass finds them all.
    const again = rendering({ data: { k: '$(mirror.label.tier)' }, labels: tiers, memo });
    expect(again.editionIn('b')).toBe(a);
    expect(memo.size).toBe(3);
  });

  test('namespaces with the same texts share one content', () => {
    const found = rendering({ data: { k: '$(mirror.label.tier)' }, labels: tiers });
    expect(found.contentIn('a')).toBe(found.contentIn('b'));
    expect(found.contentIn('c').data).toEqual({ k: 'iron' });
  });

  test('a shared memo never mixes two sources, keys, values or namespaces', () => {
    const text = fc.constantFrom(
      '$(mirror.namespace)',
      '$(mirror.source-namespace)',
      '$(mirror.value.v)',
      '$(mirror.label.tier)',
      'x',
    );
    const any = fc.record({
      data: fc.dictionary(fc.constantFrom('k', 'l'), text, { minKeys: 1 }),
      renderKeys: fc.constantFrom('k', 'l', '*'),
      value: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
    });
    const memo = new Map<string, Rendered>();
    fc.assert(
      fc.property(any, ({ data, renderKeys, value, name }) => {
        const options = {
          data: {
            ...data,
            k: `${data['k'] ?? ''}$(mirror.source-namespace)`,
            l: `${data['l'] ?? ''}$(mirror.source-namespace)`,
          },
          asks: { 'render-keys': renderKeys },
          values: [values('v', { v: value })],
          labels: tiers,
        };
        expect(rendering({ ...options, memo }).editionIn(name)).toEqual(rendering(options).editionIn(name));
      }),
    );
  });

  test('what was said of a namespace stays so, whatever becomes of its labels', () => {
    const labels: Record<string, StringMap> = { team: { tier: 'gold' } };
    const object = source('home/colors', { 'render-keys': '*' }, { data: { k: '$(mirror.label.tier)' } });
    const view = {
      ...viewOf(world([object])),
      namespace: (name: string) =>
        viewOf(world([object], [namespace(name, { labels: labels[name] ?? {} })])).namespace(name),
    };
    const base = observed(object);
    const found = renderingOf(base, [object], view);
    const before = found?.in('team', base);
    labels['team'] = { tier: 'iron' };
    expect(found?.in('team', base)).toEqual(before);
    expect(found?.contentIn('team', base).data).toEqual({ k: 'gold' });
  });
});

test('[V4] a memo that sources share never names the values of another source', () => {
  const memo = new Map<string, Rendered>();
  const why = (name: string) => {
    const asks = { 'render-keys': '*', 'values-from': name };
    const object = source('home/colors', asks, { data: { k: '$(mirror.value.v)' } });
    const base = observed(object);
    return renderingOf(base, [object], viewOf(world([object])), memo)?.in('team', base)?.unresolved;
  };
  expect(why('first')).toContain('there is no ConfigMap home/first');
  expect(why('second')).toContain('there is no ConfigMap home/second');
});

test('[V2] a revision with too many placeholders is not rendered: the limit is that of a source', () => {
  const data = { k: Array.from({ length: 1001 }, (_, at) => `$(mirror.label.l${at})`).join('') };
  const pin = digestOf({ data, binaryData: {} }).slice(0, 8);
  const object = source('home/colors', { 'render-keys': '*', pin }, { data: { k: 'x' } });
  const kept = revisionObject(object, data, { order: 1 });
  const found = renderingOf(observed(object), [object, kept], viewOf(world([object, kept])));
  expect(found?.in('team', observed(kept))).toEqual({
    unresolved: 'k: an earlier content of the source has more than 1000 different placeholders',
  });
});

test('[V4] a content that is observed again, with another version, is still known', () => {
  const object = source('home/colors', { 'render-keys': '*' }, { data: { k: '$(mirror.namespace)' } });
  const base = observed(object);
  const found = renderingOf(base, [object], viewOf(world([object], [namespace('team')])));
  const again = { ...base, resourceVersion: '2' };
  expect(found?.in('team', again)).toEqual(found?.in('team', base));
  expect(found?.originsIn('team', again)).toHaveLength(1);
});

test('[D5] [D6] only contents that companions may hold are read: the pinned one, or the former one for a canary', () => {
  const asks = { 'render-keys': '*', 'keep-revisions': '5' };
  const contents = ['a', 'b', 'c'].map((k) => ({ k }));
  const basesWith = (more: StringMap) => {
    const object = source('home/colors', { ...asks, ...more }, { data: { k: 'c' } });
    const revisions = contents.map((data, at) => revisionObject(object, data, { order: at + 1 }));
    const base = observed(object);
    const request = base.request?.ok ? base.request.value : undefined;
    if (request === undefined) throw new Error('the source is invalid');
    return basesOf(base, request, viewOf(world([object, ...revisions]))).map(({ digest }) => digest);
  };
  const [a, b, c] = contents.map((data) => digestOf({ data, binaryData: {} }));
  expect(basesWith({})).toEqual([c]);
  expect(basesWith({ canary: '*' })).toEqual([c, b]);
  expect(basesWith({ canary: '*', pin: `${a?.slice(0, 8)}` })).toEqual([c, a]);
  expect(basesWith({ pin: `${c?.slice(0, 8)}` })).toEqual([c]);
});

test('[V2] the origin of each placeholder is told, not its text', () => {
  const data = {
    a: '$(mirror.namespace) $(mirror.value.v)',
    b: '$(mirror.label.tier) $(mirror.source-namespace)',
  };
  const found = rendering({
    data,
    values: [values('v', { v: 'secret' }), values('w', {})],
    labels: { team: { tier: 'secret' } },
  });
  expect(found.originsIn('team').map(({ placeholder, from }) => `${placeholder}: ${from}`)).toEqual([
    '$(mirror.namespace): the name of Namespace team',
    '$(mirror.value.v): ConfigMap home/v',
    '$(mirror.label.tier): a label of Namespace team',
    "$(mirror.source-namespace): the name of the source's namespace",
  ]);
  expect(found.originsIn('team', 'a')).toHaveLength(2);
  expect(JSON.stringify(found.originsIn('team'))).not.toContain('secret');
});
