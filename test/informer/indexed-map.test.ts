import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IndexedMap } from '../../src/informer/indexed-map.ts';
import { byColour, keyed, type StoredWidget } from './widgets.ts';

const item = (name: string, version: number, ...colours: string[]): StoredWidget => ({
  key: keyed(name),
  uid: `uid-${name}`,
  resourceVersion: String(version),
  colours,
});

describe('an indexed map', () => {
  test('gives what it holds by key and by index value', () => {
    const map = new IndexedMap(byColour);
    const a = item('a', 1, 'red', 'green');
    const b = item('b', 2, 'red');
    expect(map.set(a)).toBeUndefined();
    map.set(b);
    expect(map.get(keyed('a'))).toBe(a);
    expect(map.size).toBe(2);
    expect(map.byIndex('colour', 'red')).toEqual([a, b]);
    expect(map.byIndex('colour', 'green')).toEqual([a]);
    expect(map.byIndex('colour', 'blue')).toEqual([]);
  });

  test('files a changed item again and returns the old one', () => {
    const map = new IndexedMap(byColour);
    const a1 = item('a', 1, 'red', 'green');
    const a2 = item('a', 2, 'green', 'blue');
    map.set(a1);
    expect(map.set(a2)).toBe(a1);
    expect(map.byIndex('colour', 'red')).toEqual([]);
    expect(map.byIndex('colour', 'green')).toEqual([a2]);
    expect(map.byIndex('colour', 'blue')).toEqual([a2]);
    expect(map.size).toBe(1);
  });

  test('names the index that it does not have', () => {
    const map: IndexedMap<StoredWidget> = new IndexedMap(byColour);
    expect(() => map.byIndex('shape', 'round')).toThrow('no index is named shape');
  });

  test('is, after any changes, what a list searched from end to end would be', () => {
    const colours = fc.uniqueArray(fc.constantFrom('red', 'green', 'blue'));
    const change = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      colours: fc.option(colours, { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const map = new IndexedMap(byColour);
        const model = new Map<string, StoredWidget>();
        changes.forEach((each, version) => {
          const key = keyed(each.name);
          const next = each.colours && item(each.name, version, ...each.colours);
          const previous = next === undefined ? map.delete(key) : map.set(next);
          expect(previous).toBe(model.get(key));
          if (next === undefined) model.delete(key);
          else model.set(key, next);
        });
        expect([...map.values()]).toEqual([...model.values()]);
        for (const colour of ['red', 'green', 'blue']) {
          const filed = new Set(map.byIndex('colour', colour));
          expect(filed).toEqual(new Set([...model.values()].filter((each) => each.colours.includes(colour))));
        }
      }),
    );
  });
});
