import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/sandbox/objects/json.ts';
import { StatusError } from '../../src/sandbox/objects/status.ts';
import { jsonPatch, mergePatch } from '../../src/sandbox/patch/patch.ts';
import { strategicMerge } from '../../src/sandbox/patch/strategic-merge.ts';
import { configMapSchema } from '../../src/sandbox/schema/object-schemas.ts';

const codeOf = (attempt: () => unknown): number | undefined => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
  return undefined;
};

describe('[B1] JSON patch', () => {
  const document = { data: { a: '1' }, list: ['x', 'y'] };

  test.each<[Json, Json]>([
    [[{ op: 'add', path: '/data/b', value: '2' }], { data: { a: '1', b: '2' }, list: ['x', 'y'] }],
    [[{ op: 'replace', path: '/data/b', value: '2' }], { data: { a: '1', b: '2' }, list: ['x', 'y'] }],
    [[{ op: 'remove', path: '/data/a' }], { data: {}, list: ['x', 'y'] }],
    [[{ op: 'add', path: '/list/-', value: 'z' }], { data: { a: '1' }, list: ['x', 'y', 'z'] }],
    [[{ op: 'add', path: '/list/0', value: 'z' }], { data: { a: '1' }, list: ['z', 'x', 'y'] }],
    [[{ op: 'move', from: '/data/a', path: '/data/b' }], { data: { b: '1' }, list: ['x', 'y'] }],
    [[{ op: 'replace', path: '', value: { only: 'this' } }], { only: 'this' }],
    [[{ op: 'test', path: '/data/absent', value: null }], document],
    [[{ op: 'test', path: '/data/constructor', value: null }], document],
    [
      [{ op: 'copy', from: '/data/toString', path: '/data/b' }],
      { data: { a: '1', b: null }, list: ['x', 'y'] },
    ],
    [
      [
        { op: 'add', path: '/data/constructor', value: 'c' },
        { op: 'copy', from: '/data/constructor', path: '/data/prototype' },
        { op: 'move', from: '/data/prototype', path: '/data/__proto__' },
      ],
      JSON.parse('{"data":{"a":"1","constructor":"c","__proto__":"c"},"list":["x","y"]}'),
    ],
    [
      [{ op: 'add', path: '/data/~1slash~0tilde', value: '' }],
      { data: { a: '1', '/slash~tilde': '' }, list: ['x', 'y'] },
    ],
  ])('%j', (patch, expected) => {
    expect(jsonPatch(document, patch)).toEqual(expected);
    expect(document).toEqual({ data: { a: '1' }, list: ['x', 'y'] });
  });

  test.each<[Json, number]>([
    [{}, 400],
    ['x', 400],
    [[1], 400],
    [[{ op: 'test', path: '/data/a', value: '2' }], 422],
    [[{ op: 'remove', path: '/data/b' }], 422],
    [[{ op: 'add', path: '/no/where', value: 1 }], 422],
    [[{ op: 'add', path: '/list/7', value: 1 }], 422],
    [[{ op: 'replace', path: '/list/7', value: 1 }], 422],
    [[{ op: 'add', path: 'data', value: 1 }], 422],
    [[{ op: 'add', path: '/data/a' }], 422],
    [[{ op: 'fly', path: '/data/a' }], 422],
    [[{ op: 'add', path: 5, value: 1 }], 422],
    [[{ op: 'copy', path: '/data/b' }], 422],
    [[{ op: 'move', from: '/data', path: '/data/a' }], 422],
    [[{ op: 'move', from: '', path: '/data/a' }], 422],
    [[{ op: 'move', from: '/constructor', path: '/data' }], 422],
    [[{ op: 'copy', from: '/no/where', path: '/data/b' }], 422],
    [[{ op: 'move', from: '/data/toString', path: '/data/b' }], 422],
    [[{ op: 'remove', path: '/data/constructor' }], 422],
    [[{ op: 'test', path: '/data/constructor', value: 'x' }], 422],
    [[{ op: 'add', path: '/constructor/prototype/x', value: 1 }], 422],
    [[{ op: 'add', path: '/data/toString/x', value: 1 }], 422],
    [Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: null })), 413],
  ])('a bad one is refused (%#)', (patch, code) => {
    expect(codeOf(() => jsonPatch(document, patch))).toBe(code);
  });

  test('every patch is applied or refused with a Status', () => {
    const text = fc.constantFrom(
      'add',
      'remove',
      'replace',
      'move',
      'copy',
      'test',
      '/data',
      '/data/a',
      '/list/0',
      '',
      '/__proto__/x',
      '/constructor',
      '/toString',
    );
    const operation = fc.dictionary(
      fc.constantFrom('op', 'path', 'from', 'value'),
      fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue()),
    );
    fc.assert(
      fc.property(fc.array(operation), (patch) => {
        codeOf(() => jsonPatch(document, patch as Json));
        expect(document).toEqual({ data: { a: '1' }, list: ['x', 'y'] });
        expect(({} as Record<string, unknown>)['x']).toBeUndefined();
      }),
    );
  });
});

describe('[B1] merge patch', () => {
  test.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: ['b'] }, { a: ['c'] }, { a: ['c'] }],
    [{}, { a: { b: null } }, { a: {} }],
    [{ a: { b: 'c' } }, { a: { b: 'd', e: null } }, { a: { b: 'd' } }],
  ])('%j with %j is %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected);
  });
});

describe('[B1] strategic merge patch', () => {
  const owner = (uid: string, name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid });
  const original: JsonObject = {
    metadata: { finalizers: ['a', 'b'], ownerReferences: [owner('1', 'one'), owner('2', 'two')] },
    data: { x: '1' },
  };
  const patched = (patch: JsonObject) => strategicMerge(configMapSchema, original, patch);

  test('maps are merged, null removes', () => {
    expect(patched({ data: { y: '2' } })).toMatchObject({ data: { x: '1', y: '2' } });
    expect(patched({ data: { x: null } })).toMatchObject({ data: {} });
    expect(patched({ data: null })).not.toHaveProperty('data');
  });

  test('owner references are merged by uid, in the order of the patch', () => {
    expect(patched({ metadata: { ownerReferences: [{ uid: '2', name: 'zwei' }] } })).toMatchObject({
      metadata: { ownerReferences: [owner('1', 'one'), owner('2', 'zwei')] },
    });
    expect(patched({ metadata: { ownerReferences: [owner('3', 'three')] } })).toMatchObject({
      metadata: { ownerReferences: [owner('3', 'three'), owner('1', 'one'), owner('2', 'two')] },
    });
  });

  test('directives: delete an item, replace a list or a map, delete from a set, order', () => {
    expect(patched({ metadata: { ownerReferences: [{ $patch: 'delete', uid: '1' }] } })).toMatchObject({
      metadata: { ownerReferences: [owner('2', 'two')] },
    });
    expect(
      patched({ metadata: { ownerReferences: [{ $patch: 'replace' }, owner('3', 'three')] } }),
    ).toMatchObject({
      metadata: { ownerReferences: [owner('3', 'three')] },
    });
    expect(patched({ data: { $patch: 'replace', z: '1' } })).toMatchObject({ data: { z: '1' } });
    expect(patched({ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } })).toMatchObject({
      metadata: { finalizers: ['b'] },
    });
    expect(
      patched({ metadata: { finalizers: ['c'], '$setElementOrder/finalizers': ['b', 'c', 'a'] } }),
    ).toMatchObject({ metadata: { finalizers: ['b', 'c', 'a'] } });
  });

  test('finalizers are a set', () => {
    expect(patched({ metadata: { finalizers: ['b', 'c'] } })).toMatchObject({
      metadata: { finalizers: ['a', 'b', 'c'] },
    });
  });

  test('an item without its key and an unknown directive get a 500, as on the real server', () => {
    expect(codeOf(() => patched({ metadata: { ownerReferences: [{ name: 'x' }] } }))).toBe(500);
    expect(codeOf(() => patched({ data: { $patch: 'frobnicate' } }))).toBe(500);
  });
});
