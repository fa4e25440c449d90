import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { createListWatch } from '../../../src/kube/api/http-list-watch.ts';
import type { WatchOptions } from '../../../src/kube/api/list-watch.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Handler, sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

const never = new AbortController().signal;
const RESUME: WatchOptions = { resourceVersion: '5', sendInitialEvents: false, timeoutSeconds: 300 };
const ADDED = '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"6"}}}\n';

async function start(handler: Handler, selection: { labelSelector?: string; metadataOnly?: boolean } = {}) {
  const server = await startServer(handler);
  const { transport, stop } = openTransport({ server: server.url });
  const listWatch = createListWatch<ConfigMap>(transport, { path: '/api/v1/configmaps', ...selection });
  const query = (index = 0) => Object.fromEntries(server.requests[index]?.url.searchParams ?? []);
  return { server, listWatch, query, stop };
}

/** Node reports a rejection that nobody handles; here it fails the test. */
function expectNoUnhandledRejection(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
}

test('[W2] a list comes in pages', async () => {
  const { listWatch, query } = await start(
    (request, response) => {
      const isFirst = !request.url.searchParams.has('continue');
      sendJson(response, 200, {
        metadata: { resourceVersion: '9', continue: isFirst ? 'more' : '' },
        items: [{ metadata: { name: isFirst ? 'a' : 'b', resourceVersion: '1' } }],
      });
    },
    { labelSelector: 'workshop.io/managed in (true,companion)' },
  );
  const first = await listWatch.list({ limit: 100 }, never);
  expect(first).toEqual({
    items: [{ metadata: { name: 'a', resourceVersion: '1' } }],
    resourceVersion: '9',
    bytes: expect.any(Number),
    continue: 'more',
  });
  expect(first.bytes).toBeGreaterThan(100);
  const second = await listWatch.list({ limit: 100, continue: 'more' }, never);
  expect(second).toEqual({
    items: [{ metadata: { name: 'b', resourceVersion: '1' } }],
    resourceVersion: '9',
    bytes: expect.any(Number),
  });
  const labelSelector = 'workshop.io/managed in (true,companion)';
  expect(query(0)).toEqual({ labelSelector, limit: '100' });
  expect(query(1)).toEqual({ labelSelector, limit: '100', continue: 'more' });
});

test('an empty list may be null, as Go writes it', async () => {
  const { listWatch } = await start((_, response) =>
    sendJson(response, 200, { metadata: { resourceVersion: '1' }, items: null }),
  );
  expect(await listWatch.list({ limit: 1 }, never)).toMatchObject({ items: [], resourceVersion: '1' });
});

test('[W3] a list that is something else is MALFORMED', async () => {
  for (const body of [
    '{"items":[',
    '[]',
    'null',
    '{"items":[]}',
    '{"metadata":{"resourceVersion":"1"},"items":{}}',
    '{"metadata":{"resourceVersion":"1"},"items":[{}]}',
  ]) {
    const { listWatch } = await start((_, response) => response.end(body));
    expect(await failureOf(listWatch.list({ limit: 1 }, never))).toMatchObject({ code: 'MALFORMED' });
  }
});

test('[W3] a watch resumes where it is told to and asks for bookmarks', async () => {
  const { listWatch, query } = await start((_, response) => response.end(ADDED));
  for await (const batch of listWatch.watch(RESUME, never)) expect(batch).toHaveLength(1);
  expect(query()).toEqual({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '300',
    resourceVersion: '5',
  });
});

test('[W2] a streaming list asks for the most recent state', async () => {
  const { listWatch, query } = await start((_, response) => response.end(ADDED));
  for await (const _ of listWatch.watch({ sendInitialEvents: true, timeoutSeconds: 300 }, never));
  expect(query()).toEqual({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '300',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
  });
});

test('[W1] metadata alone is asked for where nothing else is needed', async () => {
  const { listWatch, server } = await start(
    (request, response) =>
      request.url.searchParams.has('watch')
        ? response.end(ADDED)
        : sendJson(response, 200, { metadata: { resourceVersion: '1' }, items: [] }),
    { metadataOnly: true },
  );
  await listWatch.list({ limit: 1 }, never);
  for await (const _ of listWatch.watch(RESUME, never));
  expect(server.requests.map(({ headers }) => headers.accept)).toEqual([
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
  ]);
});

test('[W3] a watch that is refused rejects with what the server said', async () => {
  const status = { kind: 'Status', message: 'sendInitialEvents is forbidden', reason: 'Invalid', code: 422 };
  const { listWatch } = await start((_, response) => sendJson(response, 422, status));
  const events = listWatch.watch(RESUME, never)[Symbol.asyncIterator]();
  expect(await failureOf(events.next())).toMatchObject({ name: 'ApiError', status: 422, reason: 'Invalid' });
});

test('[W3] a watch that is cut rejects with a NetworkError, after the events that arrived', async () => {
  const { listWatch, server } = await start((_, response) => {
    response.writeHead(200).write(ADDED);
    setImmediate(() => response.destroy());
  });
  const batches: unknown[] = [];
  const failure = await failureOf(
    (async () => {
      for await (const batch of listWatch.watch(RESUME, never)) batches.push(batch);
    })(),
  );
  expect(failure).toMatchObject({ code: 'UND_ERR_SOCKET', message: `${server.host} closed the connection` });
  expect(batches).toHaveLength(1);
});

test('[W3] leaving the loop closes the request', async () => {
  expectNoUnhandledRejection();
  let isClosed = false;
  const { listWatch } = await start((_, response) => {
    response.writeHead(200).write(ADDED);
    response.on('close', () => {
      isClosed = true;
    });
  });
  for await (const _ of listWatch.watch(RESUME, never)) break;
  await waitFor(() => isClosed);
});

test('[Q3] an abort ends a watch that is silent, not yet answered, or not yet begun', async () => {
  expectNoUnhandledRejection();
  let closed = 0;
  const { listWatch, server } = await start((request, response) => {
    response.on('close', () => closed++);
    if (request.url.searchParams.get('resourceVersion') === '5') response.writeHead(200).write(ADDED);
  });
  const stop = new AbortController();
  const silent = listWatch.watch(RESUME, stop.signal)[Symbol.asyncIterator]();
  await silent.next();
  const waiting = [
    silent,
    listWatch.watch({ ...RESUME, resourceVersion: '6' }, stop.signal)[Symbol.asyncIterator](),
  ];
  const failures = waiting.map((events) => failureOf(events.next()));
  await waitFor(() => server.requests.length === 2);
  stop.abort();
  for (const failure of await Promise.all(failures)) expect(failure).toMatchObject({ code: 'ABORTED' });
  const late = listWatch.watch(RESUME, stop.signal)[Symbol.asyncIterator]();
  expect(await failureOf(late.next())).toMatchObject({ code: 'ABORTED' });
  await waitFor(() => closed === 2);
  expect(server.requests).toHaveLength(2);
});

test('[Q3] an abort between two events ends the watch at the next', async () => {
  expectNoUnhandledRejection();
  const { listWatch } = await start((_, response) => response.writeHead(200).write(ADDED + ADDED));
  const stop = new AbortController();
  const failure = await failureOf(
    (async () => {
      for await (const _ of listWatch.watch(RESUME, stop.signal)) stop.abort();
    })(),
  );
  expect(failure).toMatchObject({ code: 'ABORTED' });
});
