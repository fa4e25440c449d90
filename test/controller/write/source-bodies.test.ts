import { describe, expect, test } from 'vitest';
import { StaleSourceError } from '../../../src/controller/memory/failure.ts';
import { SourceBodies } from '../../../src/controller/write/source-bodies.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { vocabularyOf } from '../../../src/mirror/vocabulary.ts';

const vocabulary = vocabularyOf('workshop.io');

function source(
  resourceVersion: string,
  data: Record<string, string>,
  more: Partial<ConfigMap['metadata']> = {},
): ConfigMap {
  const labels = { 'workshop.io/managed': 'true' };
  return {
    metadata: { namespace: 'shop', name: 'colors', uid: 'u1', resourceVersion, labels, ...more },
    data,
  };
}

/** A server with one source, which counts the reads. */
function setUp(maxBytes = 1_000_000) {
  const server = { live: source('1', {}), reads: 0 };
  const get = async (_key: ObjectKey) => {
    server.reads++;
    return server.live;
  };
  return { server, bodies: new SourceBodies({ get }, maxBytes) };
}

describe('[W4] source bodies', () => {
  test('a body that the informer brought is not read again', async () => {
    const { server, bodies } = setUp();
    const object = source('1', { sky: 'blue' });
    const observed = observe(object, vocabulary);
    bodies.put(observed.key, object);
    expect(await bodies.content(observed)).toEqual({
      data: { sky: 'blue' },
      binaryData: {},
    });
    expect(server.reads).toBe(0);
  });

  test('an evicted body is read again once', async () => {
    const { server, bodies } = setUp();
    const object = source('1', { sky: 'blue' });
    server.live = object;
    const observed = observe(object, vocabulary);
    expect((await bodies.content(observed)).data).toEqual({ sky: 'blue' });
    expect((await bodies.content(observed)).data).toEqual({ sky: 'blue' });
    expect(server.reads).toBe(1);
  });

  test('a body that does not fit is read each time', async () => {
    const { server, bodies } = setUp(10_000);
    const large = source('1', { text: 'x'.repeat(20_000) });
    server.live = large;
    const observed = observe(large, vocabulary);
    bodies.put(observed.key, large);
    await bodies.content(observed);
    await bodies.content(observed);
    expect(server.reads).toBe(2);
  });

  test('of more bodies than fit, those that the watch brought last are not read again', async () => {
    const objects = Array.from({ length: 100 }, (_, at) =>
      source('1', { text: 'x'.repeat(1000) }, { name: `colors-${at}`, uid: `u${at}` }),
    );
    const reads: ObjectKey[] = [];
    const byKey = new Map(objects.map((object) => [observe(object, vocabulary).key, object]));
    const get = async (key: ObjectKey) => {
      reads.push(key);
      return byKey.get(key) as ConfigMap;
    };
    const bodies = new SourceBodies({ get }, 100_000);
    for (const [key, object] of byKey) bodies.put(key, object);
    for (const object of objects) await bodies.content(observe(object, vocabulary));
    expect(bodies.bytes).toBeLessThanOrEqual(100_000);
    const fit = Math.floor(87_500 / 1260);
    expect(reads).toEqual([...byKey.keys()].slice(0, 100 - fit));
  });

  test('text beyond Latin-1 counts two bytes a character', async () => {
    const { server, bodies } = setUp(30_000);
    const object = source('1', { text: '語'.repeat(20_000) });
    server.live = object;
    const observed = observe(object, vocabulary);
    bodies.put(observed.key, object);
    await bodies.content(observed);
    expect(server.reads).toBe(1);
  });

  test('with a maximum size of 0 nothing is kept', async () => {
    const { server, bodies } = setUp(0);
    const object = source('1', { a: 'b' });
    server.live = object;
    const observed = observe(object, vocabulary);
    bodies.put(observed.key, object);
    await bodies.content(observed);
    expect(server.reads).toBe(1);
  });

  test('content of a version that was not observed is never returned', async () => {
    const { server, bodies } = setUp();
    const observed = observe(source('1', { sky: 'blue' }), vocabulary);
    server.live = source('2', { sky: 'grey' });
    await expect(bodies.content(observed)).rejects.toThrow(StaleSourceError);
    server.live = source('3', { sky: 'blue' }, { uid: 'u2' });
    await expect(bodies.content(observed)).rejects.toThrow(StaleSourceError);
  });

  test('a later version with the same content is used', async () => {
    const { server, bodies } = setUp();
    const observed = observe(source('1', { sky: 'blue' }), vocabulary);
    server.live = source('2', { sky: 'blue' });
    expect((await bodies.content(observed)).data).toEqual({ sky: 'blue' });
  });

  test('only the keys to copy are returned', async () => {
    const { bodies } = setUp();
    const annotations = { 'workshop.io/include-keys': 'a*', 'workshop.io/exclude-keys': 'ab' };
    const object = source('1', { a: '1', ab: '2', b: '3' }, { annotations });
    const observed = observe(object, vocabulary);
    bodies.put(observed.key, object);
    expect((await bodies.content(observed)).data).toEqual({ a: '1' });
  });

  test('they are selected once for all companions, and again when the source asks for others', async () => {
    const { bodies } = setUp();
    const asking = (resourceVersion: string, keys: string) => {
      const annotations = { 'workshop.io/include-keys': keys };
      const object = source(resourceVersion, { a: '1', b: '2' }, { annotations });
      const observed = observe(object, vocabulary);
      bodies.put(observed.key, object);
      return observed;
    };
    const observed = asking('1', 'a*');
    expect(await bodies.content(observed)).toBe(await bodies.content(observed));
    expect((await bodies.content(asking('2', 'b*'))).data).toEqual({ b: '2' });
  });
});
