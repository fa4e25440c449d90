import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter, LineTooLongError } from '../../../src/kube/api/json-lines.ts';

/** `bytes` cut at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...sorted, bytes.length];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

const oneLine = fc.string({ unit: 'binary' }).map((text) => `"${text.replaceAll('\n', '')}"`);

test('[W3] however a stream is cut into chunks, its lines are the same', () => {
  fc.assert(
    fc.property(fc.array(oneLine), fc.array(fc.nat()), (lines, places) => {
      const splitter = new LineSplitter();
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      expect(cut(bytes, places).flatMap((chunk) => [...splitter.push(chunk)])).toEqual(lines);
      expect(splitter.isInsideLine).toBe(false);
    }),
  );
});

test('[W3] a stream that ends inside a line is known to be cut', () => {
  const splitter = new LineSplitter();
  expect([...splitter.push(Buffer.from('a\nb'))]).toEqual(['a']);
  expect(splitter.isInsideLine).toBe(true);
});

test('blank lines are left out', () => {
  expect([...new LineSplitter().push(Buffer.from('\n a\r\n \n\n'))]).toEqual([' a\r']);
});

test('[W3] a line may be as long as the limit and not one byte longer, in one chunk or many', () => {
  for (const size of [1, 3, 100]) {
    const push = (text: string) => {
      const splitter = new LineSplitter(10);
      const bytes = Buffer.from(text);
      const places = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => index * size);
      return cut(bytes, places).flatMap((chunk) => [...splitter.push(chunk)]);
    };
    expect(push('0123456789\n0123456789\n')).toEqual(['0123456789', '0123456789']);
    expect(() => push('0123456789a\n')).toThrow(LineTooLongError);
    expect(() => push('0123456789a')).toThrow(LineTooLongError);
  }
});
