import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/sandbox/objects/json.ts';
import { type KubeObject, toObject, withMeta } from '../../src/sandbox/objects/kube-object.ts';
import { StatusError } from '../../src/sandbox/objects/status.ts';
import { fromFieldsV1, printPath, toFieldsV1 } from '../../src/sandbox/patch/field-set.ts';
import { entriesAfterUpdate, type Manager } from '../../src/sandbox/patch/managed-fields.ts';
import { apply } from '../../src/sandbox/patch/server-side-apply.ts';
import { decode } from '../../src/sandbox/schema/decode.ts';
import { configMapSchema } from '../../src/sandbox/schema/object-schemas.ts';

const NOW = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:00:01Z';
const empty = toObject(decode(configMapSchema, {}).object);
const configMap = (value: JsonObject): KubeObject => toObject(decode(configMapSchema, value).object);
const manager = (name: string, operation: Manager['operation']): Manager => ({
  name,
  operation,
  apiVersion: 'v1',
  subresource: '',
  resetFields: [],
});

/** `before` (absent on create) replaced by `value` as `name`. */
function updated(before: KubeObject | undefined, value: JsonObject, name: string, now = NOW): KubeObject {
  const after = configMap(value);
  const managedFields = entriesAfterUpdate(
    configMapSchema,
    before,
    after,
    empty,
    manager(name, 'Update'),
    now,
  );
  return withMeta(after, { managedFields });
}

function applied(live: KubeObject | undefined, config: JsonObject, name: string, force = false): KubeObject {
  return apply({
    schema: configMapSchema,
    live,
    empty,
    config,
    manager: manager(name, 'Apply'),
    force,
    now: LATER,
  });
}

const fieldsOf = (object: KubeObject): Readonly<Record<string, JsonObject | undefined>> =>
  Object.fromEntries(
    (object.metadata.managedFields ?? []).map((entry) => [
      `${entry.manager}/${entry.operation}`,
      entry.fieldsV1,
    ]),
  );

describe('[B1] managedFields', () => {
  const metadata = { name: 'c', labels: { app: 'x' }, finalizers: ['a/b'] };
  const created = updated(undefined, { metadata, data: { a: '1', b: '1' } }, 'maker');

  test('the creator owns the fields it gave, and their maps and lists', () => {
    expect(fieldsOf(created)).toEqual({
      'maker/Update': {
        'f:data': { '.': {}, 'f:a': {}, 'f:b': {} },
        'f:metadata': {
          'f:labels': { '.': {}, 'f:app': {} },
          'f:finalizers': { '.': {}, 'v:"a/b"': {} },
        },
      },
    });
  });

  test('the last to change a field owns it; other fields keep owner and time', () => {
    const changed = updated(created, { metadata, data: { a: '2', b: '1', c: '1' } }, 'editor', LATER);
    expect(fieldsOf(changed)).toMatchObject({
      'maker/Update': { 'f:data': { '.': {}, 'f:b': {} } },
      'editor/Update': { 'f:data': { 'f:a': {}, 'f:c': {} } },
    });
    expect(changed.metadata.managedFields?.map(({ manager: name, time }) => [name, time])).toEqual([
      ['maker', NOW],
      ['editor', LATER],
    ]);
  });

  test('an update without a change changes no entry', () => {
    const same = updated(created, { metadata, data: { a: '1', b: '1' } }, 'editor', LATER);
    expect(same.metadata.managedFields).toEqual(created.metadata.managedFields);
    const own = updated(created, { metadata, data: { a: '1', b: '1' } }, 'maker', LATER);
    expect(own.metadata.managedFields).toEqual(created.metadata.managedFields);
  });

  test('a single empty entry clears them, and then only an apply tracks again', () => {
    const cleared = updated(
      created,
      { metadata: { ...metadata, managedFields: [{}] }, data: { a: '1' } },
      'x',
    );
    expect(cleared.metadata.managedFields).toEqual([]);
    const changed = updated(cleared, { metadata, data: { a: '2' } }, 'x');
    expect(changed.metadata.managedFields).toEqual([]);
    const tracked = applied(cleared, { data: { new: '1' } }, 'one');
    expect(Object.keys(fieldsOf(tracked))).toEqual(['one/Apply', 'before-first-apply/Update']);
  });
});

describe('[B1] server-side apply', () => {
  const one = applied(undefined, { metadata: { name: 'c' }, data: { a: '1', b: '1' } }, 'one');

  test('an applier owns the leaves of its configuration', () => {
    expect(fieldsOf(one)).toEqual({ 'one/Apply': { 'f:data': { 'f:a': {}, 'f:b': {} } } });
  });

  test('the same value is shared, another one conflicts, force takes it', () => {
    expect(fieldsOf(applied(one, { data: { a: '1' } }, 'two'))).toMatchObject({
      'one/Apply': { 'f:data': { 'f:a': {} } },
      'two/Apply': { 'f:data': { 'f:a': {} } },
    });
    expect(() => applied(one, { data: { a: '2' } }, 'two')).toThrow(
      new StatusError(409, 'Conflict', 'Apply failed with 1 conflict: conflict with "one": .data.a', {
        causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
      }),
    );
    const forced = applied(one, { data: { a: '2' } }, 'two', true);
    expect(forced).toMatchObject({ data: { a: '2', b: '1' } });
    expect(fieldsOf(forced)).toEqual({
      'one/Apply': { 'f:data': { 'f:b': {} } },
      'two/Apply': { 'f:data': { 'f:a': {} } },
    });
  });

  test('a field that is no longer applied is removed, unless another manager owns it', () => {
    const shared = applied(one, { data: { b: '1' } }, 'two');
    expect(applied(shared, { data: {} }, 'one')).toMatchObject({ data: { b: '1' } });
    expect(applied(one, { data: { a: '1' } }, 'one')).toMatchObject({ data: { a: '1' } });
    expect((applied(one, { data: { a: '1' } }, 'one') as unknown as JsonObject)['data']).toEqual({ a: '1' });
  });

  test('several conflicts are listed by manager', () => {
    const two = applied(one, { data: { c: '1' } }, 'two');
    expect(() => applied(two, { data: { a: '9', b: '9', c: '9' } }, 'three')).toThrow(
      'Apply failed with 3 conflicts: conflicts with "one":\n- .data.a\n- .data.b\nconflicts with "two":\n- .data.c',
    );
  });
});

describe('[B1] field sets', () => {
  test('FieldsV1 goes in and out unchanged', () => {
    const tree: fc.Arbitrary<Json> = fc.letrec<{ node: Json }>((tie) => ({
      node: fc.dictionary(
        fc.oneof(fc.constantFrom('.', 'f:a', 'f:b'), fc.constantFrom('k:{"uid":"u"}', 'v:"x"')),
        fc.oneof({ depthSize: 'small' }, fc.constant({}), tie('node')),
        { maxKeys: 4 },
      ) as fc.Arbitrary<Json>,
    })).node;
    fc.assert(
      fc.property(tree, (json) => {
        const once = toFieldsV1(fromFieldsV1(json));
        expect(toFieldsV1(fromFieldsV1(once))).toEqual(once);
      }),
    );
  });

  test('paths are printed as conflicts show them', () => {
    expect(printPath(['f:metadata', 'f:ownerReferences', 'k:{"uid":"u"}'])).toBe(
      '.metadata.ownerReferences[uid="u"]',
    );
    expect(printPath(['f:metadata', 'f:finalizers', 'v:"x/y"'])).toBe('.metadata.finalizers[="x/y"]');
  });
});
