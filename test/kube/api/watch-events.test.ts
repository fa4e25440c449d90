import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WatchEvent } from '../../../src/kube/api/list-watch.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { watchEvents } from '../../../src/kube/api/watch-events.ts';

type Batches = (readonly WatchEvent<ConfigMap>[])[];

async function read(chunks: readonly (string | Buffer)[]): Promise<{ batches: Batches; error?: unknown }> {
  const batches: Batches = [];
  async function* stream(): AsyncGenerator<Buffer> {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  try {
    for await (const batch of watchEvents<ConfigMap>(stream(), 'host:1')) batches.push(batch);
    return { batches };
  } catch (error) {
    return { batches, error };
  }
}

const configMap = (name: string): ConfigMap => ({ metadata: { name, uid: 'u', resourceVersion: '1' } });
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const ADDED = line('ADDED', configMap('a'));

test('events come in the batches in which the network brought them', async () => {
  const [first, second, third] = ['a', 'b', 'c'].map(configMap);
  const chunks = [
    line('ADDED', first) + line('MODIFIED', second).slice(0, 9),
    line('MODIFIED', second).slice(9, 20),
    line('MODIFIED', second).slice(20) + line('DELETED', third),
  ];
  expect(await read(chunks)).toEqual({
    batches: [
      [{ type: 'ADDED', object: first }],
      [
        { type: 'MODIFIED', object: second },
        { type: 'DELETED', object: third },
      ],
    ],
  });
});

test('[W3] any chunking of a stream gives the same events, characters of many bytes included', async () => {
  const event = fc.record({
    type: fc.constantFrom('ADDED' as const, 'MODIFIED' as const, 'DELETED' as const),
    object: fc.record({
      metadata: fc.record({
        name: fc.string(),
        uid: fc.string(),
        resourceVersion: fc.string({ minLength: 1 }),
      }),
      data: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })),
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(event), fc.integer({ min: 1, max: 40 }), async (events, size) => {
      const bytes = Buffer.from(events.map(({ type, object }) => line(type, object)).join(''));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const { batches, error } = await read(chunks);
      expect(error).toBeUndefined();
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
      expect(JSON.stringify(batches.flat())).toBe(JSON.stringify(events));
    }),
  );
});

test('[W2] a bookmark tells where to resume, and whether the initial events are over', async () => {
  const bookmark = (annotations?: object) =>
    line('BOOKMARK', {
      kind: 'ConfigMap',
      metadata: { resourceVersion: '7', ...(annotations && { annotations }) },
    });
  const { batches } = await read([bookmark(), bookmark({ 'k8s.io/initial-events-end': 'true' })]);
  expect(batches.flat()).toEqual([
    { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: false },
    { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
  ]);
});

test('[W3] an ERROR is thrown with its code and reason, after the events before it', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (5)' };
  const { batches, error } = await read([ADDED + line('ERROR', status) + ADDED]);
  expect(batches).toEqual([[{ type: 'ADDED', object: configMap('a') }]]);
  expect(error).toMatchObject({ name: 'ApiError', status: 410, reason: 'Expired', message: status.message });
});

test('[R15] an ERROR may ask for a pause', async () => {
  const status = { kind: 'Status', code: 429, details: { retryAfterSeconds: 3 } };
  expect((await read([line('ERROR', status)])).error).toMatchObject({ status: 429, retryAfterMs: 3_000 });
});

test.each([
  ['is not JSON', 'nonsense\n'],
  ['is JSON but no event', '[1]\n'],
  ['is a bare null', 'null\n'],
  ['has an unknown type', line('RENAMED', configMap('a'))],
  ['has no object', '{"type":"ADDED"}\n'],
  ['has an object without resourceVersion', line('ADDED', { metadata: { name: 'a' } })],
  ['is a bookmark without resourceVersion', line('BOOKMARK', { metadata: {} })],
  ['is two events run together', `${ADDED.trim()}${ADDED}`],
])('[W3] a line that %s is MALFORMED, and what came before it counts', async (_, bad) => {
  const { batches, error } = await read([ADDED + bad]);
  expect(batches.flat()).toHaveLength(1);
  expect(error).toMatchObject({
    name: 'NetworkError',
    code: 'MALFORMED',
    message: 'the watch of host:1 holds a line that is not an event',
  });
});

test('[W3] a stream that ends inside a line is MALFORMED, even when the rest would parse', async () => {
  const { batches, error } = await read([ADDED + ADDED.trim()]);
  expect(batches.flat()).toHaveLength(1);
  expect(error).toMatchObject({
    code: 'MALFORMED',
    message: 'the watch of host:1 ended in the middle of an event',
  });
});

test('[W3] a line without end is MALFORMED before it fills the memory', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const { error } = await read(['{"type":"', ...Array<Buffer>(9).fill(chunk)]);
  expect(error).toMatchObject({ code: 'MALFORMED' });
});
