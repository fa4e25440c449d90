import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../src/sandbox/objects/kube-object.ts';
import { keyOf, ObjectStore } from '../../src/sandbox/storage/object-store.ts';

const object = (namespace: string, name: string): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace },
});

const namesOf = (objects: readonly KubeObject[] | undefined) =>
  objects?.map(({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);

describe('[B1] the object store', () => {
  test('one counter numbers the writes of all collections', () => {
    const store = new ObjectStore({ historyLimit: 10 });
    const first = store.collection('a').put(object('n', 'x'));
    const second = store.collection('b').put(object('n', 'x'));
    const removed = store.collection('a').remove(keyOf('n', 'x'));
    const versions = [first, second, removed].map((one) => Number(one?.metadata.resourceVersion));
    expect(versions).toEqual([versions[0], (versions[0] ?? 0) + 1, (versions[0] ?? 0) + 2]);
    expect(store.revision).toBe(versions[2]);
  });

  test('lists are in the order of etcd: by namespace/name, byte by byte', () => {
    const collection = new ObjectStore({ historyLimit: 10 }).collection('c');
    for (const [namespace, name] of [
      ['b', 'x'],
      ['a', 'y'],
      ['a-b', 'x'],
      ['a', 'x'],
    ] as const) {
      collection.put(object(namespace, name));
    }
    expect(collection.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'a-b/x',
      'a/x',
      'a/y',
      'b/x',
    ]);
    expect(collection.list('a').map(({ metadata }) => metadata.name)).toEqual(['x', 'y']);
  });

  test('any remembered version can be listed after any later writes', () => {
    const write = fc.record({
      namespace: fc.constantFrom('a', 'b'),
      name: fc.constantFrom('x', 'y', 'z'),
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.array(write, { maxLength: 40 }),
        fc.constantFrom(undefined, 'a'),
        (writes, namespace) => {
          const store = new ObjectStore({ historyLimit: 100 });
          const collection = store.collection('c');
          const seen = [{ revision: store.revision, names: namesOf(collection.list(namespace)) }];
          for (const { namespace: place, name, remove } of writes) {
            if (remove) collection.remove(keyOf(place, name));
            else collection.put(object(place, name));
            seen.push({ revision: store.revision, names: namesOf(collection.list(namespace)) });
          }
          for (const { revision, names } of seen) {
            expect(namesOf(collection.listAt(revision, namespace))).toEqual(names);
          }
        },
      ),
    );
  });

  test('a forgotten version cannot be listed or watched from', () => {
    const store = new ObjectStore({ historyLimit: 3 });
    const collection = store.collection('c');
    const before = store.revision;
    for (let i = 0; i < 20; i++) collection.put(object('n', `x${i}`));
    expect(collection.listAt(before)).toBeUndefined();
    expect(collection.log.positionAfter(before)).toBeUndefined();
    expect(collection.listAt(store.revision)).toHaveLength(20);
    const latest = store.revision;
    store.compact();
    expect(collection.listAt(latest)).toBeUndefined();
    expect(collection.listAt(store.revision)).toHaveLength(20);
  });

  test('a position at the end of the log stays valid across a compaction', () => {
    const store = new ObjectStore({ historyLimit: 10 });
    const { log } = store.collection('c');
    store.collection('c').put(object('n', 'x'));
    const [behind, upToDate] = [log.end - 1, log.end];
    store.compact();
    expect(log.hasDropped(behind)).toBe(true);
    expect(log.hasDropped(upToDate)).toBe(false);
    store.collection('c').put(object('n', 'y'));
    expect(log.at(upToDate)?.current?.metadata.name).toBe('y');
  });
});
