import { describe, expect, test } from 'vitest';
import { parseFieldSelector } from '../../src/sandbox/selectors/field-selector.ts';

const fields = {
  selectableField: (label: string) => (label.startsWith('metadata.') ? label : undefined),
  unselectable: (label: string) => `field label not supported: ${label}`,
};
const object: Readonly<Record<string, string>> = { 'metadata.name': 'a', 'metadata.namespace': 'x=y,z\\' };
const matches = (selector: string) => parseFieldSelector(selector, fields)((field) => object[field] ?? '');

describe('[B1] field selectors', () => {
  test.each([
    ['', true],
    [',', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=b', false],
    ['metadata.name=a,metadata.namespace=other', false],
    ['metadata.namespace=x\\=y\\,z\\\\', true],
  ])('%s is %s', (selector, expected) => {
    expect(matches(selector)).toBe(expected);
  });

  test.each([
    ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['data.a=b', 'field label not supported: data.a'],
    ['metadata.name=a=b', 'invalid field selector: unescaped character in value: ='],
    ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
    ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('%s is refused', (selector, message) => {
    expect(() => matches(selector)).toThrow(message);
  });
});
