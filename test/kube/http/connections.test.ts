import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/clock/clock.ts';
import { Connections } from '../../../src/kube/http/connections.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type CertificateAuthority, createAuthority, type KeyPair } from '../../support/tls.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type LoopbackServer, sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';
import { temporaryFolder } from '../temporary-files.ts';

const GET = { method: 'GET', path: '/api' } as const;
const inline = (text: string) => ({ kind: 'inline', text }) as const;
const file = (path: string) => ({ kind: 'file', path }) as const;

/** An HTTPS server that answers with the name in the client's certificate, if there is one. */
async function startSecureServer(
  authority: CertificateAuthority,
  certificate: KeyPair,
): Promise<LoopbackServer> {
  return await startServer(
    (request, response) => sendJson(response, 200, { name: request.clientName ?? '' }),
    {
      ...certificate,
      ca: authority.cert,
      requestCert: true,
      rejectUnauthorized: false,
    },
  );
}

const bodyOf = async (body: Promise<string>) => JSON.parse(await body) as unknown;

test('[O5] an untrusted certificate is reported, and accepted if the kubeconfig says so', async () => {
  const [authority, stranger] = [await createAuthority(), await createAuthority()];
  const server = await startSecureServer(authority, await authority.server({ dnsNames: ['api.example'] }));
  const messageWith = async (tls: object) =>
    (await failureOf(openTransport({ server: server.url, tls }).transport.call(GET))).message;

  expect(await messageWith({ ca: inline(stranger.cert) })).toBe(
    `${server.host} has a certificate that the certificate authority of the kubeconfig did not sign`,
  );
  expect(await messageWith({ ca: inline(authority.cert), serverName: 'other.example' })).toBe(
    `${server.host} has a certificate for another name: check server or tls-server-name`,
  );
  for (const tls of [{ ca: inline(authority.cert), serverName: 'api.example' }, { skipVerify: true }]) {
    expect(await bodyOf(openTransport({ server: server.url, tls }).transport.call(GET))).toEqual({
      name: '',
    });
  }
});

test('[O5] an expired certificate, and a server without TLS, each have their own message', async () => {
  const authority = await createAuthority();
  const expired = await startSecureServer(authority, await authority.server({ expired: true }));
  const tls = { ca: inline(authority.cert) };
  expect(await failureOf(openTransport({ server: expired.url, tls }).transport.call(GET))).toMatchObject({
    code: 'CERT_HAS_EXPIRED',
    message: `${expired.host} has a certificate that has expired`,
  });
  const plain = await startServer((_, response) => sendJson(response, 200, {}));
  const server = plain.url.replace('http:', 'https:');
  expect(await failureOf(openTransport({ server, tls }).transport.call(GET))).toMatchObject({
    message: `${plain.host} does not speak TLS: check whether the server should be http://`,
  });
});

test('a call that needs it reads a rotated certificate authority', async () => {
  const [first, second] = [await createAuthority(), await createAuthority()];
  const folder = temporaryFolder();
  const ca = file(folder.write('ca.crt', first.cert));
  const server = await startSecureServer(first, await first.server());
  const { transport } = openTransport({ server: server.url, tls: { ca } }, { clock: new ManualClock() });
  await transport.call(GET);

  await server.restart(await second.server());
  // The first call may still use a connection that has just been cut.
  await waitFor(async () => (await failureOf(transport.call(GET))).message.includes('did not sign'));
  folder.write('ca.crt', second.cert);
  expect(await bodyOf(transport.call({ method: 'POST', path: '/api', body: '{}' }))).toEqual({ name: '' });
});

test('a certificate authority that cannot be read is reported with its path', async () => {
  const path = join(temporaryFolder().path, 'ca.crt');
  const { transport } = openTransport({ server: 'https://127.0.0.1:1', tls: { ca: file(path) } });
  expect(await failureOf(transport.call(GET))).toMatchObject({
    code: 'CREDENTIALS',
    message: `no connection to the cluster: its certificate authority cannot be read from ${path}`,
  });
});

test('a rotated client certificate is used within a minute, and requests in flight go on', async () => {
  const authority = await createAuthority();
  const clock = new ManualClock();
  const folder = temporaryFolder();
  const [old, young] = [await authority.client('old'), await authority.client('young')];
  const clientCertificate = {
    cert: file(folder.write('tls.crt', old.cert)),
    key: file(folder.write('tls.key', old.key)),
  };
  let endWatch: (() => void) | undefined;
  const server = await startServer(
    (request, response) => {
      if (request.url.pathname !== '/watch') return sendJson(response, 200, { name: request.clientName });
      response.writeHead(200).write('a');
      endWatch = () => response.end('b');
    },
    { ...(await authority.server()), ca: authority.cert, requestCert: true },
  );
  const { transport } = openTransport(
    { server: server.url, tls: { ca: inline(authority.cert) }, user: { name: 'alice', clientCertificate } },
    { clock },
  );
  expect(await bodyOf(transport.call(GET))).toEqual({ name: 'old' });
  const watch = (await transport.stream({ method: 'GET', path: '/watch' }))[Symbol.asyncIterator]();
  expect(String((await watch.next()).value)).toBe('a');

  folder.write('tls.crt', young.cert);
  await clock.advance(60_000);
  // The key does not belong to the certificate yet.
  expect(await bodyOf(transport.call(GET))).toEqual({ name: 'old' });
  folder.write('tls.key', young.key);
  await clock.advance(60_000);
  expect(await bodyOf(transport.call(GET))).toEqual({ name: 'young' });

  endWatch?.();
  expect(String((await watch.next()).value)).toBe('b');
  expect((await watch.next()).done).toBe(true);
});

test('a client certificate from an exec plugin is used', async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.client('from-plugin');
  const server = await startSecureServer(authority, await authority.server());
  const status = JSON.stringify({ status: { clientCertificateData: cert, clientKeyData: key } });
  const script = temporaryFolder().write('plugin.cjs', `console.log(${JSON.stringify(status)});`);
  const plugin = { name: 'alice', exec: { command: process.execPath, args: [script] } };
  const { transport } = openTransport({
    server: server.url,
    tls: { ca: inline(authority.cert) },
    user: { name: 'alice', plugin },
  });
  expect(await bodyOf(transport.call(GET))).toEqual({ name: 'from-plugin' });
});

test('calls and streams go through the proxy of the kubeconfig, with its password', async () => {
  const authority = await createAuthority();
  const server = await startSecureServer(authority, await authority.server());
  const asked: string[] = [];
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const upstream = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const { transport } = openTransport({
    server: server.url,
    tls: { ca: inline(authority.cert) },
    proxyUrl: `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
  for (let call = 0; call < 5; call++) await transport.call(GET);
  for await (const chunk of await transport.stream(GET)) expect(String(chunk)).toBe('{"name":""}');
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThan(6);
  expect(new Set(asked)).toEqual(
    new Set([`${server.host} Basic ${Buffer.from('me:secret').toString('base64')}`]),
  );
});

test('[O5] a proxy that refuses is named as the cause, without its password', async () => {
  const proxy = createServer().on('connect', (_, socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const { transport } = openTransport({
    server: 'https://cluster.example:6443',
    proxyUrl: `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
  expect(await failureOf(transport.call(GET))).toMatchObject({
    name: 'NetworkError',
    message: 'cluster.example:6443 was not reached through the proxy: check proxy-url',
  });
});

/** A TCP server on loopback that is neither a proxy nor an API server; it stops with the test. */
async function startBrokenServer(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, port, proxyUrl: `http://me:secret@127.0.0.1:${port}`, sockets, stop };
}

/** Resolves when the server has closed our connection: it has accepted all earlier ones by then. */
async function visit(port: number): Promise<void> {
  await new Promise<void>((resolve) => {
    connect(port, '127.0.0.1').resume().on('close', resolve);
  });
}

test('[O5] a proxy that closes the connection instead of answering is asked once per request', async () => {
  for (const server of ['https://cluster.example:6443', 'http://cluster.example:6443']) {
    const proxy = await startBrokenServer((socket) => socket.end());
    const { transport } = openTransport({ server, proxyUrl: proxy.proxyUrl }, { timeLimitMs: 2_000 });
    const expected = {
      name: 'NetworkError',
      code: 'PROXY',
      message: `cluster.example:6443 was not reached through the proxy ${proxy.host}, which closed the connection without an answer: check proxy-url`,
    };
    for (let round = 0; round < 3; round++) {
      expect(await failureOf(transport.call(GET))).toMatchObject(expected);
      expect(await failureOf(transport.stream(GET))).toMatchObject(expected);
    }
    // A client that keeps connecting would come in between.
    for (let visits = 0; visits < 20; visits++) await visit(proxy.port);
    expect(proxy.sockets.length).toBe(6 + 20);
  }
});

test('[O5] calls that wait for a connection fail too when the proxy closes every one', async () => {
  const proxy = await startBrokenServer((socket) => socket.end());
  const { transport } = openTransport(
    { server: 'https://cluster.example:6443', proxyUrl: proxy.proxyUrl },
    { connections: 2, timeLimitMs: 2_000 },
  );
  const failures = await Promise.all(Array.from({ length: 10 }, () => failureOf(transport.call(GET))));
  for (const failure of failures) expect(failure).toMatchObject({ code: 'PROXY' });
  expect(proxy.sockets.length).toBeLessThanOrEqual(10);
});

test('a proxy that accepts and never answers times out like a connection', async () => {
  const proxy = await startBrokenServer((socket) => socket.resume());
  const server = 'https://cluster.example:6443';
  const connections = new Connections({ server, proxyUrl: proxy.proxyUrl }, systemClock, 1, 100);
  onTestFinished(() => connections.destroy());
  const outcome = failureOf(connections.for({ headers: {} }).calls.request({ origin: server, ...GET }));
  await waitFor(() => proxy.sockets[0]?.destroyed);
  expect(await outcome).toMatchObject({
    code: 'PROXY',
    message: `cluster.example:6443 was not reached through the proxy ${proxy.host}, which did not answer: check proxy-url`,
  });
  expect(proxy.sockets.length).toBe(1);
});

test('[O5] an unreachable proxy is named as the cause, not the API server', async () => {
  const proxy = await startBrokenServer((socket) => socket.end());
  await proxy.stop();
  const { transport } = openTransport({ server: 'https://cluster.example:6443', proxyUrl: proxy.proxyUrl });
  expect(await failureOf(transport.call(GET))).toMatchObject({
    code: 'PROXY',
    message: `cluster.example:6443 was not reached through the proxy ${proxy.host}, which refused the connection: check proxy-url`,
  });
});

test('[O5] a server that does not speak HTTP is reported as such', async () => {
  const server = await startBrokenServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const { transport } = openTransport({ server: `http://${server.host}` });
  expect(await failureOf(transport.call(GET))).toMatchObject({
    code: 'HPE_INVALID',
    message: `${server.host} does not speak HTTP: check the server of the kubeconfig`,
  });
});

const alert = (description: number) => Buffer.from([0x15, 3, 3, 0, 2, 2, description]);

test.each([
  [
    'what is no TLS',
    Buffer.from([0x16, 3, 3, 0xff, 0xff, 2, 70]),
    /does not speak TLS: check whether the server should be http:\/\/$/,
  ],
  ['an alert of another version', alert(70), /refused the TLS handshake \(\w+PROTOCOL_VERSION\)$/],
  ['an alert without a reason', alert(40), /\(\w+HANDSHAKE_FAILURE\): check the client certificate$/],
])('[O5] an https:// server that answers with %s is reported as such', async (_, answer, message) => {
  const server = await startBrokenServer((socket) => socket.end(answer));
  const { transport } = openTransport({ server: `https://${server.host}` });
  expect((await failureOf(transport.call(GET))).message).toMatch(message);
});

test('[O5] a server that answers but is not a proxy is reported as such', async () => {
  const proxy = await startBrokenServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'));
  const { transport } = openTransport(
    { server: 'https://cluster.example:6443', proxyUrl: proxy.proxyUrl },
    { timeLimitMs: 2_000 },
  );
  expect(await failureOf(transport.call(GET))).toMatchObject({
    code: 'PROXY',
    message: `cluster.example:6443 was not reached through the proxy ${proxy.host}, which does not speak HTTP: check proxy-url`,
  });
});
