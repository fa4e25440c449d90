import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/sandbox/objects/json.ts';
import { decode } from '../../src/sandbox/schema/decode.ts';
import { DecodeError } from '../../src/sandbox/schema/decode-error.ts';
import { configMapSchema, leaseSchema } from '../../src/sandbox/schema/object-schemas.ts';

const configMap = (value: Json) => decode(configMapSchema, value);

describe('[B1] decoding', () => {
  test('fields come in the order of Go and map keys sorted, in whatever order they were sent', () => {
    const sent =
      '{"data":{"b":"2","a":"1"},"metadata":{"labels":{"z":"1","y":"2"},"name":"n"},"kind":"ConfigMap"}';
    expect(JSON.stringify(configMap(JSON.parse(sent)).object)).toBe(
      '{"kind":"ConfigMap","metadata":{"name":"n","labels":{"y":"2","z":"1"}},"data":{"a":"1","b":"2"}}',
    );
  });

  test('empty fields are dropped, except pointers and those without omitempty', () => {
    expect(
      configMap({ metadata: { labels: {}, finalizers: [] }, data: {}, immutable: false }).object,
    ).toEqual({
      metadata: {},
      immutable: false,
    });
    expect(decode(leaseSchema, { spec: { holderIdentity: '', leaseTransitions: 0 } }).object).toEqual({
      metadata: {},
      spec: { holderIdentity: '', leaseTransitions: 0 },
    });
  });

  test('null is absent, but an empty string as a map value', () => {
    expect(configMap({ metadata: null, data: { a: null }, immutable: null }).object).toEqual({
      metadata: {},
      data: { a: '' },
    });
  });

  test('the data key __proto__ is a key like any other', () => {
    const { object } = configMap(JSON.parse('{"data":{"__proto__":"x","constructor":"y"}}'));
    expect(JSON.stringify(object)).toContain('{"__proto__":"x","constructor":"y"}');
  });

  test('unknown fields are dropped and reported in the order of the document', () => {
    const { object, strictErrors } = configMap({
      metadata: { name: 'n', foo: 1, ownerReferences: [{ x: 1 }] },
      dta: {},
    });
    expect(object).not.toHaveProperty('dta');
    expect(strictErrors).toEqual([
      'unknown field "metadata.foo"',
      'unknown field "metadata.ownerReferences[0].x"',
      'unknown field "dta"',
    ]);
  });

  test.each<[Json, string]>([
    [{ data: { a: 5 } }, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
    [
      { data: [] },
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      { metadata: { name: {} } },
      'json: cannot unmarshal object into Go struct field ObjectMeta.metadata.name of type string',
    ],
    [
      { immutable: 'true' },
      'json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
    ],
    [
      { metadata: 'x' },
      'json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
    ],
    [{ binaryData: { a: '***' } }, 'illegal base64 data at input byte 0'],
    [{ binaryData: { a: 'AAE' } }, 'illegal base64 data at input byte 0'],
  ])('%j is refused', (value, message) => {
    expect(() => configMap(value)).toThrow(message);
    expect(() => configMap(value)).toThrow(DecodeError);
  });

  test('base64 is written back in its canonical form', () => {
    expect(configMap({ binaryData: { a: 'AA\nEC' } }).object).toMatchObject({ binaryData: { a: 'AAEC' } });
  });

  test.each([
    ['2024-01-01T00:00:00.123456Z', '2024-01-01T00:00:00.123456Z'],
    ['2024-01-01T02:00:00.123456+02:00', '2024-01-01T00:00:00.123456Z'],
  ])('a MicroTime %s is %s', (given, kept) => {
    expect(decode(leaseSchema, { spec: { renewTime: given } }).object).toMatchObject({
      spec: { renewTime: kept },
    });
  });

  test.each(['2024-01-01T00:00:00Z', '2024-01-01T00:00:00.123Z', '2024-01-01T00:00:00.1234567Z', 'x', ''])(
    'a MicroTime %s is refused: it has exactly six digits after the point',
    (given) => {
      expect(() => decode(leaseSchema, { spec: { renewTime: given } })).toThrow(/^parsing time /);
    },
  );
});
