import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ConfigMapApi, createConfigMapApi } from '../../../src/kube/api/config-maps.ts';
import { objectKey } from '../../../src/kube/api/object-key.ts';
import type { NewConfigMap } from '../../../src/kube/api/types.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Handler, sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

const KEY = objectKey('team-a', 'colors.v2');
const GIVEN = {
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: '2026-01-01T00:00:00Z',
  managedFields: [
    { manager: 'm', operation: 'Update', time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:data': {} } },
  ],
};

async function start(handler: Handler) {
  const server = await startServer(handler);
  const { transport } = openTransport({ server: server.url });
  return { server, api: createConfigMapApi(transport, { fieldManager: 'mirror-controller' }) };
}

/** Keeps what it is sent, and gives it back with what a server adds. */
async function startEcho() {
  let stored = '{}';
  return await start((request, response) => {
    if (request.method === 'POST') stored = request.body;
    const { metadata, ...rest } = JSON.parse(stored) as { metadata: object };
    sendJson(response, 200, { ...rest, metadata: { ...metadata, ...GIVEN } });
  });
}

const withContent = (content: Pick<NewConfigMap, 'data' | 'binaryData'>): NewConfigMap => ({
  metadata: { namespace: 'team-a', name: 'colors.v2' },
  ...content,
});

test.each([
  ['no data at all', {}],
  ['empty data', { data: {}, binaryData: {} }],
  ['only binaryData', { binaryData: { 'logo.png': 'AP+A' } }],
  ['keys with dots and dashes', { data: { 'app.config-v1.yaml': 'x', '-': '', _: 'y', '..c': 'z' } }],
  ['keys that JavaScript knows', { data: JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}') }],
  ['unicode', { data: { ü: 'käse 🧀\u2028\u0000"\\\n', emoji: '👩‍👩‍👧' } }],
  ['1 MiB', { data: { big: 'ä'.repeat(512 * 1024) } }],
])('[M3] %s goes to the server and comes back byte for byte', async (_, content) => {
  const { api, server } = await startEcho();
  await api.create(withContent(content));
  expect(server.requests[0]?.body).toBe(
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...withContent(content) }),
  );
  const { metadata, ...rest } = await api.get(KEY);
  expect(JSON.stringify(rest)).toBe(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...content }));
  expect(metadata.name).toBe('colors.v2');
});

test('[M3] any content goes to the server and comes back byte for byte', async () => {
  const { api } = await startEcho();
  const content = fc.record({
    data: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })),
    binaryData: fc.dictionary(fc.string(), fc.base64String()),
  });
  await fc.assert(
    fc.asyncProperty(content, async (any) => {
      await api.create(withContent(any));
      const { data, binaryData } = await api.get(KEY);
      expect(JSON.stringify({ data, binaryData })).toBe(JSON.stringify(any));
    }),
  );
});

test('metadata comes back as it is on the wire: times are strings, no field is lost', async () => {
  const { api } = await startEcho();
  const metadata = {
    namespace: 'team-a',
    name: 'colors.v2',
    labels: { a: 'b' },
    annotations: { c: 'd' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'colors', uid: 'o', controller: true }],
  };
  expect(await api.create({ metadata })).toEqual({ ...metadata, ...GIVEN });
  expect((await api.get(KEY)).metadata).toEqual({ ...metadata, ...GIVEN });
});

test('[M8] each request goes where it should, and each write says who makes it', async () => {
  const { api, server } = await start((_, response) => sendJson(response, 200, { metadata: GIVEN }));
  await api.get(KEY);
  await api.create(withContent({}));
  const patch = {
    metadata: { resourceVersion: '7', labels: { x: null } },
    data: JSON.parse('{"__proto__":"a"}'),
  };
  expect(await api.patch(KEY, patch)).toEqual(GIVEN);
  await api.delete(KEY, { uid: 'u', resourceVersion: '7' });

  const path = '/api/v1/namespaces/team-a/configmaps';
  expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    `GET ${path}/colors.v2`,
    `POST ${path}?fieldManager=mirror-controller`,
    `PATCH ${path}/colors.v2?fieldManager=mirror-controller`,
    `DELETE ${path}/colors.v2`,
  ]);
  const [, , patched, deleted] = server.requests;
  expect(patched?.headers['content-type']).toBe('application/strategic-merge-patch+json');
  expect(patched?.body).toBe(JSON.stringify(patch));
  expect(JSON.parse(deleted?.body ?? '')).toEqual({
    preconditions: { uid: 'u', resourceVersion: '7' },
    propagationPolicy: 'Background',
  });
});

test('writes ask for an answer without data, a read for all of it', async () => {
  const { api, server } = await start((_, response) => sendJson(response, 200, { metadata: GIVEN }));
  await api.get(KEY);
  await api.create(withContent({}));
  await api.patch(KEY, { metadata: { resourceVersion: '7' } });
  const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
  expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
    'application/json',
    metadataOnly,
    metadataOnly,
  ]);
});

test('[R6] a failure is our ApiError, not the exception of the client library', async () => {
  const { api } = await start((_, response) =>
    sendJson(response, 409, {
      kind: 'Status',
      message: 'configmaps "x" already exists',
      reason: 'AlreadyExists',
    }),
  );
  for (const call of [
    api.create(withContent({})),
    api.patch(KEY, { metadata: { resourceVersion: '7' } }),
    api.get(KEY),
  ]) {
    expect(await failureOf(call)).toMatchObject({
      name: 'ApiError',
      status: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "x" already exists',
    });
  }
});

test('[W3] an answer that is cut in the middle of its JSON is MALFORMED', async () => {
  const { api } = await start((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"metadata":{');
  });
  expect(await failureOf(api.patch(KEY, { metadata: { resourceVersion: '7' } }))).toMatchObject({
    name: 'NetworkError',
    code: 'MALFORMED',
  });
});

describe('with a fence', () => {
  /** A server that answers every write when told to, and may first ask to wait. */
  async function startFenced(retryAfterSeconds?: number) {
    const waiting: (() => void)[] = [];
    let asksToWait = retryAfterSeconds !== undefined;
    const server = await startServer((_, response) => {
      if (asksToWait) {
        asksToWait = false;
        const status = { kind: 'Status', code: 429, reason: 'TooManyRequests' };
        sendJson(response, 429, status, { 'retry-after': retryAfterSeconds });
      } else {
        waiting.push(() => sendJson(response, 200, { metadata: { name: 'colors.v2', ...GIVEN } }));
      }
    });
    const clock = new ManualClock();
    const { transport } = openTransport({ server: server.url }, { clock });
    const term = new AbortController();
    const fence = { isOpen: true, mayWrite: () => fence.isOpen, term: term.signal };
    const api = createConfigMapApi(transport, { fieldManager: 'mirror-controller', fence });
    return { api, server, fence, term, clock, waiting };
  }
  const WRITES: readonly [string, (api: ConfigMapApi) => Promise<unknown>][] = [
    ['create', (api) => api.create(withContent({}))],
    ['patch', (api) => api.patch(KEY, { metadata: { resourceVersion: '7' } })],
    ['delete', (api) => api.delete(KEY, { uid: 'u', resourceVersion: '7' })],
  ];

  test.each(WRITES)('[L2] a %s is not sent once writing is no longer allowed', async (_, write) => {
    const { api, server, fence } = await startFenced();
    fence.isOpen = false;
    expect(await failureOf(write(api))).toMatchObject({ code: 'ABORTED' });
    expect(server.requests).toEqual([]);
  });

  test.each(WRITES)('[L2] a %s that waits for Retry-After is not sent after it', async (_, write) => {
    const { api, server, fence, clock } = await startFenced(5);
    expect(await failureOf(write(api))).toMatchObject({ status: 429 });
    const second = failureOf(write(api));
    await clock.advance(4_000);
    fence.isOpen = false;
    await clock.advance(1_000);
    expect(await second).toMatchObject({ code: 'ABORTED' });
    expect(server.requests).toHaveLength(1);
  });

  test.each(WRITES)('[L3] a %s in flight is aborted at the end of the term', async (_, write) => {
    const { api, server, term } = await startFenced();
    const failure = failureOf(write(api));
    await waitFor(() => server.requests.length === 1);
    term.abort();
    expect(await failure).toMatchObject({ code: 'ABORTED' });
  });

  test('[L3] reads are always allowed', async () => {
    const { api, fence, term, waiting } = await startFenced();
    fence.isOpen = false;
    term.abort();
    const read = api.get(KEY);
    await waitFor(() => waiting.length === 1);
    waiting[0]?.();
    expect((await read).metadata.name).toBe('colors.v2');
  });
});
