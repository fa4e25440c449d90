import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ClusterUser } from '../../../src/kube/config/cluster.ts';
import { UserCredentials } from '../../../src/kube/config/credentials.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';
import { temporaryFolder } from '../temporary-files.ts';

const inline = (text: string) => ({ kind: 'inline', text }) as const;
const file = (path: string) => ({ kind: 'file', path }) as const;

const headersOf = async (user: Omit<ClusterUser, 'name'>) =>
  (await new UserCredentials({ name: 'alice', ...user }, new ManualClock()).current()).headers;

test('each kind of credential becomes its header; without one there is none', async () => {
  expect(await headersOf({})).toEqual({});
  expect(await headersOf({ token: inline(' abc\n') })).toEqual({ authorization: 'Bearer abc' });
  expect(await headersOf({ basic: { username: 'ä', password: 'b:c' } })).toEqual({
    authorization: `Basic ${Buffer.from('ä:b:c').toString('base64')}`,
  });
  const impersonate = { user: 'bob', uid: '7', groups: ['g1', 'g2'], extra: { 'a.io/Team': ['x', 'y'] } };
  expect(await headersOf({ token: inline('abc'), impersonate })).toEqual({
    authorization: 'Bearer abc',
    'impersonate-user': 'bob',
    'impersonate-uid': '7',
    'impersonate-group': ['g1', 'g2'],
    'impersonate-extra-a.io%2Fteam': ['x', 'y'],
  });
});

test('names of users and groups to impersonate reach the server as UTF-8', async () => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const user = { name: 'alice', impersonate: { user: 'jürgen', groups: ['名'] } };
  const { transport } = openTransport({ server: server.url, user });
  await transport.call({ method: 'GET', path: '/' });
  const sent = server.requests[0]?.headers ?? {};
  const received = ['impersonate-user', 'impersonate-group'].map((name) =>
    Buffer.from(String(sent[name]), 'latin1').toString(),
  );
  expect(received).toEqual(['jürgen', '名']);
});

test('a token file is trimmed, and read again once a minute has passed', async () => {
  const folder = temporaryFolder();
  const clock = new ManualClock();
  const token = file(folder.write('token', 'first\n'));
  const credentials = new UserCredentials({ name: 'alice', token }, clock);
  const first = await credentials.current();
  expect(first.headers).toEqual({ authorization: 'Bearer first' });
  folder.write('token', 'second\n');
  await clock.advance(59_999);
  expect(await credentials.current()).toBe(first);
  await clock.advance(1);
  expect((await credentials.current()).headers).toEqual({ authorization: 'Bearer second' });
});

test('of many refused requests, the first one reads the credential again at once', async () => {
  const folder = temporaryFolder();
  const token = file(folder.write('token', 'first'));
  const credentials = new UserCredentials({ name: 'alice', token }, new ManualClock());
  const refused = await credentials.current();
  expect(await credentials.renew(refused)).toBe(refused);
  folder.write('token', 'second');
  const renewed = await Promise.all([credentials.renew(refused), credentials.renew(refused)]);
  expect(renewed[0]?.headers).toEqual({ authorization: 'Bearer second' });
  expect(renewed[1]).toBe(renewed[0]);
  expect(await credentials.renew(refused)).toBe(renewed[0]);
});

test('while a file is missing or empty during a rotation, the last good credential stays', async () => {
  const folder = temporaryFolder();
  const path = folder.write('token', 'first');
  const credentials = new UserCredentials({ name: 'alice', token: file(path) }, new ManualClock());
  const first = await credentials.current();
  rmSync(path);
  expect(await credentials.renew(first)).toBe(first);
  folder.write('token', '');
  expect(await credentials.renew(first)).toBe(first);
});

test('a missing file is named in the error', async () => {
  const { path } = temporaryFolder();
  const token = file(`${path}/token`);
  const credentials = new UserCredentials({ name: 'alice', token }, new ManualClock());
  const failure = await failureOf(credentials.current());
  expect(failure).toMatchObject({
    name: 'NetworkError',
    code: 'CREDENTIALS',
    message: `the credentials of user alice cannot be read from ${path}/token`,
  });
});
