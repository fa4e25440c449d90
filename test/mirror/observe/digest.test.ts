import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Content } from '../../../src/mirror/observe/content.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';

const content = (data: Content['data'], binaryData: Content['binaryData'] = {}): Content => ({
  data,
  binaryData,
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('[M4] the checksum of a content', () => {
  test('is the documented SHA-256, byte for byte', () => {
    const documented = Buffer.concat([
      Buffer.from('data\n1 2\naé\n1 1\nb2\nbinaryData\n1 2\nz'),
      Buffer.from([0x00, 0xff]),
      Buffer.from('\n'),
    ]);
    const digest = digestOf(content({ b: '2', a: 'é' }, { z: 'AP8=' }));
    expect(digest).toBe('1181a911af0fb27118cd4ce7d1d6ee77992acc8e7232cc11a8b9925543655f02');
    expect(digest).toBe(createHash('sha256').update(documented).digest('hex'));
  });

  test('of empty content is the documented SHA-256 of the two headings', () => {
    const expected = createHash('sha256').update('data\nbinaryData\n').digest('hex');
    expect(digestOf(content({}))).toBe(expected);
  });

  test('counts the bytes of a value, not its characters', () => {
    const expected = createHash('sha256').update('data\n1 4\nk😀\nbinaryData\n').digest('hex');
    expect(digestOf(content({ k: '😀' }))).toBe(expected);
  });

  test('sorts keys by their bytes, in which "B" comes before "a"', () => {
    const expected = createHash('sha256').update('data\n1 1\nBx\n1 1\nay\nbinaryData\n').digest('hex');
    expect(digestOf(content({ a: 'y', B: 'x' }))).toBe(expected);
  });

  test('treats a lone surrogate as U+FFFD, like the API server', () => {
    expect(digestOf(content({ k: '\ud800' }))).toBe(digestOf(content({ k: '\ufffd' })));
  });

  test('is the same for two base64 texts of the same bytes', () => {
    expect(digestOf(content({}, { k: 'AP8=' }))).toBe(digestOf(content({}, { k: 'AP8' })));
  });

  const different: Readonly<Record<string, readonly [Content, Content]>> = {
    'an empty value differs from an absent key': [content({ k: '' }), content({})],
    'a key moved from data to binaryData differs': [content({ k: 'v' }), content({}, { k: base64('v') })],
    'two values exchanged between their keys differ': [
      content({ a: '1', b: '2' }),
      content({ a: '2', b: '1' }),
    ],
    'a character moved from key to value differs': [content({ ab: 'c' }), content({ a: 'bc' })],
    'a value that imitates a second key differs from that key': [
      content({ a: '1\n1 1\nb2' }),
      content({ a: '1', b: '2' }),
    ],
    'a value that imitates the second heading differs from binary data': [
      content({ a: '\nbinaryData\n1 1\nb' }),
      content({ a: '' }, { b: '' }),
    ],
    'the key __proto__ counts like any other': [content(JSON.parse('{"__proto__":"v"}')), content({})],
    'the value under __proto__ counts': [
      content(JSON.parse('{"__proto__":"v"}')),
      content(JSON.parse('{"__proto__":"w"}')),
    ],
    'composed and decomposed letters are different bytes': [
      content({ k: '\u00e9' }),
      content({ k: 'e\u0301' }),
    ],
    'a byte order mark counts': [content({ k: '\ufeffv' }), content({ k: 'v' })],
    'kinds of line end are different bytes': [content({ k: 'a\r\n' }), content({ k: 'a\n' })],
  };
  test.for(Object.entries(different))('%s', ([, [one, other]]) => {
    expect(digestOf(one)).not.toBe(digestOf(other));
  });
});

// Few characters, including those that the encoding itself uses, so that near collisions are
// frequent.
const text = fc.string({ unit: fc.constantFrom('a', '1', '2', ' ', '\n', 'é'), maxLength: 6 });
const entries = fc.dictionary(
  fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'data', 'binaryData')),
  text,
  { maxKeys: 4, noNullPrototype: false },
);
const anyContent = fc.record({
  data: entries,
  binaryData: entries.map((map) =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, base64(value)])),
  ),
});

/** Equal exactly for equal contents, computed without the digest. */
function canonical({ data, binaryData }: Content): string {
  const sorted = (map: Readonly<Record<string, string>>) =>
    Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(data), sorted(binaryData)]);
}

test('[M4] thousands of similar contents all have different checksums', () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(anyContent, (one) => {
      const digest = digestOf(one);
      expect(seen.get(digest) ?? canonical(one)).toBe(canonical(one));
      seen.set(digest, canonical(one));
    }),
    { numRuns: 5_000 },
  );
});

test('[M4] the order of keys does not matter', () => {
  const reversed = (map: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(map).reverse());
  fc.assert(
    fc.property(anyContent, ({ data, binaryData }) => {
      const turned = content(reversed(data), reversed(binaryData));
      expect(digestOf(turned)).toBe(digestOf(content(data, binaryData)));
    }),
    { numRuns: 500 },
  );
});
