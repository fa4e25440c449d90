import process from 'node:process';
import { expect, test } from 'vitest';
import { ManualClock } from '../../support/manual-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { plugin } from '../exec-plugin.ts';
import { type Handler, sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';
import { temporaryFolder } from '../temporary-files.ts';

const UNAUTHORIZED = { kind: 'Status', message: 'Unauthorized', reason: 'Unauthorized', code: 401 };

/** The one token that is valid. */
interface Guard {
  token: string;
}

function guardedBy(guard: Guard): Handler {
  return (request, response) => {
    const isKnown = request.headers.authorization === `Bearer ${guard.token}`;
    return isKnown ? sendJson(response, 200, { body: request.body }) : sendJson(response, 401, UNAUTHORIZED);
  };
}

async function start() {
  const state: Guard = { token: 'first' };
  const folder = temporaryFolder();
  const path = folder.write('token', 'first\n');
  const server = await startServer(guardedBy(state));
  const user = { name: 'alice', token: { kind: 'file', path } } as const;
  const { transport } = openTransport({ server: server.url, user }, { clock: new ManualClock() });
  await transport.call({ method: 'GET', path: '/' });
  return { state, folder, server, transport };
}

test('after a 401 a replaced token is read, and the call repeated with it once', async () => {
  const { state, folder, server, transport } = await start();
  state.token = 'second';
  folder.write('token', 'second\n');
  const body = await transport.call({ method: 'POST', path: '/', body: '{"a":1}' });
  expect(JSON.parse(body)).toEqual({ body: '{"a":1}' });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer first',
    'Bearer first',
    'Bearer second',
  ]);
});

test('many calls that are refused at once all succeed with the new token, and so does a stream', async () => {
  const { state, folder, transport } = await start();
  state.token = 'second';
  folder.write('token', 'second\n');
  const calls = Array.from({ length: 20 }, () => transport.call({ method: 'GET', path: '/' }));
  const watch = transport.stream({ method: 'GET', path: '/?watch=1' });
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['{"body":""}']));
  for await (const chunk of await watch) expect(String(chunk)).toContain('body');
});

test('a 401 without another credential is an ApiError after one request', async () => {
  const { state, server, transport } = await start();
  state.token = 'second';
  expect(await failureOf(transport.call({ method: 'GET', path: '/' }))).toMatchObject({
    name: 'ApiError',
    status: 401,
    reason: 'Unauthorized',
  });
  expect(server.requests).toHaveLength(2);
});

test('a new credential that is refused too is not followed by a third request', async () => {
  const { state, folder, server, transport } = await start();
  state.token = 'third';
  folder.write('token', 'second\n');
  expect(await failureOf(transport.call({ method: 'GET', path: '/' }))).toMatchObject({ status: 401 });
  expect(server.requests).toHaveLength(3);
});

test('[W3] [O5] a plugin that hangs when it is asked again, after a 401, is blamed too', async () => {
  const state: Guard = { token: 'first' };
  const server = await startServer(guardedBy(state));
  const clock = new ManualClock();
  const { user, runs } = plugin('if (run === 1) give({ token: "first" }); else setTimeout(() => 0, 10_000);');
  const { transport } = openTransport(
    { server: server.url, user: { name: 'alice', plugin: user } },
    { clock },
  );
  await transport.call({ method: 'GET', path: '/' });
  state.token = 'second';
  // It is asked at most every 5 s.
  await clock.advance(5_000);
  const failure = failureOf(transport.call({ method: 'GET', path: '/' }));
  await waitFor(() => runs() === 2);
  await clock.advance(60_000);
  expect(await failure).toMatchObject({
    code: 'CREDENTIALS',
    message: `the credential plugin ${process.execPath} of user alice failed: it did not answer within 60 s`,
  });
});

test('[W3] [O5] a call waits for a slow plugin, and blames the plugin if it takes too long', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const clock = new ManualClock();
  const plugin = { name: 'alice', exec: { command: 'sleep', args: ['10'] } };
  const { transport } = openTransport({ server: server.url, user: { name: 'alice', plugin } }, { clock });
  const failure = failureOf(transport.call({ method: 'GET', path: '/' }));
  await clock.advance(60_000);
  expect(await failure).toMatchObject({
    code: 'CREDENTIALS',
    message: 'the credential plugin sleep of user alice failed: it did not answer within 60 s',
  });
  expect(server.requests).toHaveLength(0);
});
