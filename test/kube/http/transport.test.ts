import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ApiError, NetworkError } from '../../../src/kube/errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

const GET = { method: 'GET', path: '/api/v1/namespaces' } as const;

test('a call right after another one uses the same connection', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const { transport } = openTransport({ server: server.url });
  const callAgainAndAgain = async () => {
    for (let call = 0; call < 50; call++) await transport.call(GET);
  };
  await Promise.all(Array.from({ length: 4 }, callAgainAndAgain));
  expect(server.requests).toHaveLength(200);
  expect(server.connections()).toBe(4);
});

test('deletes with a body share connections', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const { transport } = openTransport({ server: server.url });
  for (let call = 0; call < 50; call++) {
    await transport.call({ method: 'DELETE', path: '/api/v1/configmaps/a', body: '{}' });
  }
  expect(server.requests).toHaveLength(50);
  expect(server.connections()).toBe(1);
});

test('[R16] 64 calls without an answer hold up no other call, and end at the time limit', async () => {
  const clock = new ManualClock();
  const server = await startServer((request, response) => {
    if (request.url.pathname !== '/hung') sendJson(response, 200, {});
  });
  const { transport } = openTransport({ server: server.url }, { clock });
  const hung = Promise.all(
    Array.from({ length: 64 }, () =>
      failureOf(transport.call({ method: 'PATCH', path: '/hung', body: '[]' })),
    ),
  );
  await waitFor(() => server.requests.length === 64);
  for (let call = 0; call < 50; call++) await transport.call(GET);
  expect(server.connections()).toBe(65);

  await clock.advance(30_000);
  for (const failure of await hung) expect(failure).toMatchObject({ code: 'TIMEOUT' });
  expect(await transport.call(GET)).toBe('{}');
});

test('no more calls are in flight than connections are allowed, and the others wait', async () => {
  const held: ServerResponse[] = [];
  const server = await startServer((_, response) => held.push(response));
  const { transport } = openTransport({ server: server.url }, { connections: 3 });
  const calls = Promise.all(Array.from({ length: 12 }, () => transport.call(GET)));
  for (let answered = 0; answered < 12; answered += 3) {
    await waitFor(() => held.length === 3);
    expect(server.requests).toHaveLength(answered + 3);
    for (const response of held.splice(0)) sendJson(response, 200, {});
  }
  await calls;
});

test('[L2] a write that waits for a connection is not sent if it is no longer allowed', async () => {
  const held: ServerResponse[] = [];
  const server = await startServer((_, response) => held.push(response));
  const { transport } = openTransport({ server: server.url }, { connections: 1 });
  const first = transport.call(GET);
  await waitFor(() => held.length === 1);
  let isAllowed = true;
  const mayBeSent = () => isAllowed;
  const write = failureOf(transport.call({ method: 'PATCH', path: '/', body: '[]', mayBeSent }));
  await turn();
  isAllowed = false;
  for (const response of held.splice(0)) sendJson(response, 200, {});
  await first;
  expect(await write).toMatchObject({ name: 'NetworkError', code: 'ABORTED' });
  const next = transport.call(GET);
  await waitFor(() => held.length === 1);
  for (const response of held) sendJson(response, 200, {});
  await next;
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
});

test('a call does not wait for open streams', async () => {
  const server = await startServer((request, response) => {
    if (request.url.searchParams.has('watch')) response.writeHead(200).write('\n');
    else sendJson(response, 200, {});
  });
  const { transport } = openTransport({ server: server.url }, { connections: 1 });
  const watch = { method: 'GET', path: '/api/v1/configmaps?watch=true' } as const;
  await Promise.all([transport.stream(watch), transport.stream(watch), transport.stream(watch)]);
  expect(await transport.call(GET)).toBe('{}');
});

test('a request goes below the path of the server and says who sends it', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const { transport } = openTransport({ server: `${server.url}/k8s/clusters/c-1` });
  await transport.call({ method: 'POST', path: '/api/v1/configmaps?a=b', body: '{"ü":1}' });
  const [request] = server.requests;
  expect(request?.url.pathname).toBe('/k8s/clusters/c-1/api/v1/configmaps');
  expect(request?.url.search).toBe('?a=b');
  expect(request?.body).toBe('{"ü":1}');
  expect(request?.headers['user-agent']).toBe('mirror-controller/test');
  expect(request?.headers['accept-encoding']).toBeUndefined();
});

test('[W3] a call without an answer ends at its time limit, whether it was sent or still queued', async () => {
  const clock = new ManualClock();
  const server = await startServer(() => undefined);
  const { transport } = openTransport({ server: server.url }, { clock, connections: 1 });
  const failures = Promise.all([failureOf(transport.call(GET)), failureOf(transport.call(GET))]);
  await waitFor(() => server.requests.length === 1);
  await clock.advance(29_999);
  expect(clock.pendingTimers).toBe(2);
  await clock.advance(1);
  for (const failure of await failures) {
    expect(failure).toMatchObject({
      name: 'NetworkError',
      code: 'TIMEOUT',
      message: `${server.host} did not answer within 30 s`,
    });
  }
  expect(clock.pendingTimers).toBe(0);
});

test('[W3] a call whose connection is never established ends at its time limit too', async () => {
  const clock = new ManualClock();
  const sockets: Socket[] = [];
  const mute = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    mute.close();
  });
  // Over TLS, a silent server leaves the client in the middle of the handshake.
  const server = `https://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const failure = failureOf(openTransport({ server }, { clock }).transport.call(GET));
  await waitFor(() => sockets.length === 1);
  await clock.advance(30_000);
  expect(await failure).toMatchObject({ code: 'TIMEOUT' });
});

test('[W3] the time limit covers the whole answer, not only its head', async () => {
  const clock = new ManualClock();
  let isClosed = false;
  const server = await startServer((_, response) => {
    response.on('close', () => {
      isClosed = true;
    });
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"items":[');
  });
  const { transport } = openTransport({ server: server.url }, { clock, timeLimitMs: 5_000 });
  const failure = failureOf(transport.call(GET));
  await waitFor(() => server.requests.length === 1);
  await clock.advance(5_000);
  expect(await failure).toMatchObject({ code: 'TIMEOUT' });
  await waitFor(() => isClosed);
});

test('[W3] a stream must begin within the time limit, and may then last', async () => {
  const clock = new ManualClock();
  const server = await startServer((request, response) => {
    if (request.url.pathname === '/silent') return;
    response.writeHead(200).write('x');
  });
  const { transport } = openTransport({ server: server.url }, { clock });
  const chunks = (await transport.stream({ method: 'GET', path: '/lasting' }))[Symbol.asyncIterator]();
  const silent = failureOf(transport.stream({ method: 'GET', path: '/silent' }));
  await waitFor(() => server.requests.length === 2);
  await clock.advance(30_000);
  expect(await silent).toMatchObject({ code: 'TIMEOUT' });
  await clock.advance(600_000);
  expect(String((await chunks.next()).value)).toBe('x');
  expect(clock.pendingTimers).toBe(0);
});

test('[Q3] the signal ends calls, queued calls and streams at once', async () => {
  let closed = 0;
  const server = await startServer((request, response) => {
    response.on('close', () => closed++);
    if (request.url.searchParams.has('watch')) response.writeHead(200).write('x');
  });
  const { transport, stop } = openTransport({ server: server.url }, { connections: 1 });
  const chunks = (await transport.stream({ method: 'GET', path: '/?watch=1' }))[Symbol.asyncIterator]();
  await chunks.next();
  const failures = [transport.call(GET), transport.call(GET), chunks.next()].map(failureOf);
  await waitFor(() => server.requests.length === 2);
  stop.abort();
  for (const failure of await Promise.all(failures)) {
    expect(failure).toMatchObject({ name: 'NetworkError', code: 'ABORTED' });
  }
  expect(await failureOf(transport.call(GET))).toMatchObject({ code: 'ABORTED' });
  await waitFor(() => closed === 2);
});

test('closing waits for requests in flight', async () => {
  let answer: (() => void) | undefined;
  const server = await startServer((_, response) => {
    answer = () => sendJson(response, 200, {});
  });
  const { transport } = openTransport({ server: server.url });
  const call = transport.call(GET);
  await waitFor(() => answer);
  const closed = transport.close();
  answer?.();
  expect(await call).toBe('{}');
  await closed;
  expect(await failureOf(transport.call(GET))).toMatchObject({ name: 'NetworkError' });
});

test('a caller aborts its own request and no other', async () => {
  const server = await startServer((request, response) => {
    if (request.url.pathname !== '/silent') sendJson(response, 200, {});
  });
  const { transport } = openTransport({ server: server.url });
  const own = new AbortController();
  const failure = failureOf(transport.call({ method: 'GET', path: '/silent', signal: own.signal }));
  await waitFor(() => server.requests.length === 1);
  own.abort();
  expect(await failure).toMatchObject({ code: 'ABORTED' });
  expect(await transport.call(GET)).toBe('{}');
});

test('[O4] a Status becomes an ApiError with its code, reason, causes and nothing else of the body', async () => {
  const server = await startServer((_, response) =>
    sendJson(response, 422, {
      kind: 'Status',
      message: 'ConfigMap "x" is invalid',
      reason: 'Invalid',
      details: { causes: [{ reason: 'FieldValueInvalid', message: 'too long', field: 'metadata.name' }] },
      code: 422,
      secret: 'hidden',
    }),
  );
  const { transport } = openTransport({ server: server.url });
  const failure = (await failureOf(transport.call(GET))) as ApiError;
  expect(failure).toMatchObject({
    name: 'ApiError',
    status: 422,
    reason: 'Invalid',
    message: 'ConfigMap "x" is invalid',
    causes: ['FieldValueInvalid'],
  });
  expect(failure.retryAfterMs).toBeUndefined();
});

test('[O4] the page of a proxy, a redirect, or HTML in place of JSON is never quoted', async () => {
  const server = await startServer((request, response) => {
    const status = Number(request.url.pathname.slice(1));
    response.writeHead(status, { 'content-type': 'text/html', location: '/login' }).end('<h1>secret</h1>');
  });
  const { transport } = openTransport({ server: server.url });
  const at = (status: number) => failureOf(transport.call({ method: 'GET', path: `/${status}` }));
  expect(await at(502)).toMatchObject({
    name: 'ApiError',
    status: 502,
    message: `${server.host} answered 502 with an error that is not from an API server`,
  });
  expect(await at(302)).toMatchObject({
    status: 302,
    message: `${server.host} answered 302 with a redirect: check the server of the kubeconfig`,
  });
  expect(await at(200)).toMatchObject({ name: 'NetworkError', code: 'MALFORMED' });
  expect((await at(200)).message).not.toContain('secret');
});

test('[R15] after a 429 no call leaves before its Retry-After, but a watch does', async () => {
  const clock = new ManualClock();
  let refusals = 1;
  const server = await startServer((request, response) => {
    if (request.method === 'PATCH' && refusals-- > 0) {
      sendJson(response, 429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '7' });
    } else sendJson(response, 200, {});
  });
  const { transport } = openTransport({ server: server.url }, { clock });
  expect(await failureOf(transport.call({ method: 'PATCH', path: '/', body: '[]' }))).toMatchObject({
    status: 429,
    retryAfterMs: 7_000,
  });
  const calls = Promise.all([transport.call(GET), transport.call(GET)]);
  await transport.stream({ method: 'GET', path: '/?watch=1' });
  await clock.advance(6_999);
  expect(server.requests.map(({ method, url }) => method + url.search)).toEqual(['PATCH', 'GET?watch=1']);
  await clock.advance(1);
  await calls;
  expect(server.requests).toHaveLength(4);
});

test('[R15] a Retry-After delays the other calls by 30 s at most, and not past the abort', async () => {
  const clock = new ManualClock();
  const server = await startServer((_, response) =>
    server.requests.length === 1
      ? sendJson(response, 503, { kind: 'Status', details: { retryAfterSeconds: 3600 } })
      : sendJson(response, 200, {}),
  );
  const { transport, stop } = openTransport({ server: server.url }, { clock });
  expect(await failureOf(transport.call(GET))).toMatchObject({ status: 503, retryAfterMs: 30_000 });
  const held = transport.call(GET);
  await clock.advance(30_000);
  expect(await held).toBe('{}');

  const again = await startServer((_, response) => sendJson(response, 429, {}, { 'retry-after': '10' }));
  const other = openTransport({ server: again.url }, { clock });
  await failureOf(other.transport.call(GET));
  const waiting = failureOf(other.transport.call(GET));
  other.stop.abort();
  stop.abort();
  expect(await waiting).toMatchObject({ code: 'ABORTED' });
  expect(again.requests).toHaveLength(1);
});

test('a request is not repeated if the server may have acted on it', async () => {
  const server = await startServer((request, response) => {
    if (request.url.pathname === '/cut') response.destroy();
    else sendJson(response, 500, { kind: 'Status', message: 'etcd is away' });
  });
  const { transport } = openTransport({ server: server.url });
  const call = (method: 'GET' | 'PATCH', path: string) =>
    failureOf(transport.call({ method, path, body: '' }));
  expect(await call('PATCH', '/cut')).toMatchObject({ name: 'NetworkError', code: 'UND_ERR_SOCKET' });
  expect(await call('GET', '/cut')).toMatchObject({
    message: `${server.host} closed the connection`,
  });
  expect(await call('GET', '/')).toMatchObject({ status: 500, message: 'etcd is away' });
  expect(server.requests).toHaveLength(3);
});

test('[O5] a server that does not run is named with what to check', async () => {
  const server = await startServer(() => undefined);
  await server.stop();
  const { transport } = openTransport({ server: server.url });
  expect(await failureOf(transport.call(GET))).toMatchObject({
    name: 'NetworkError',
    code: 'ECONNREFUSED',
    message: `${server.host} refused the connection: check that the API server is running there`,
  } satisfies Partial<NetworkError>);
});

test('[O1] every answer is counted with its status, that of a repeated request too, and none as <error>', async () => {
  const server = await startServer((request, response) => {
    if (request.url.pathname === '/reset') response.destroy();
    else sendJson(response, request.url.pathname === '/conflict' ? 409 : 200, {});
  });
  const answers: string[] = [];
  const { transport } = openTransport(
    { server: server.url },
    { onAnswer: (code, method) => answers.push(`${method} ${code}`) },
  );
  await transport.call(GET);
  await failureOf(transport.call({ method: 'PATCH', path: '/conflict', body: '{}' }));
  await failureOf(transport.call({ method: 'DELETE', path: '/reset' }));
  for await (const _ of await transport.stream(GET));
  expect(answers).toEqual(['GET 200', 'PATCH 409', 'DELETE <error>', 'GET 200']);
});
