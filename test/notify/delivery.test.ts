import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/clock/clock.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { parseNotifyConfig, type Sink } from '../../src/notify/delivery/config.ts';
import { deliver, type Message, type Outcome } from '../../src/notify/delivery/delivery.ts';
import { HttpClient } from '../../src/notify/delivery/http-client.ts';
import { checkHost } from '../../src/notify/delivery/refused-addresses.ts';
import { oneAtATime, type ResolveHost, systemResolver } from '../../src/notify/delivery/resolve-host.ts';
import { type Handler, startServer } from '../kube/loopback-server.ts';
import { createAuthority } from '../support/tls.ts';
import { waitFor } from '../support/wait-for.ts';
import { ACCEPT, folderWith, startReceiver } from './receiver.ts';

const MESSAGE: Message = {
  cluster: 'a-cluster',
  items: [
    {
      uid: 'a-uid',
      ref: objectKey('shop', 'colors'),
      notification: { type: 'source.created', seq: 1, version: 'v', at: '2026-01-01T00:00:00Z' },
    },
  ],
  content: { data: { password: 'hunter2' }, binaryData: {} },
};

function sinkOf(fields: object, folder = '/nonexistent'): Sink {
  const config = JSON.stringify({ sinks: [{ name: 'ops', type: 'webhook', ...fields }] });
  const sinks = parseNotifyConfig(config, folder);
  if (!sinks.ok) throw new Error(sinks.problem);
  const [sink] = sinks.value;
  if (sink === undefined) throw new Error('no sink');
  return sink;
}

interface Attempt {
  readonly resolveHost?: ResolveHost;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

function attempt(sink: Sink, options: Attempt = {}): Promise<Outcome> {
  const {
    resolveHost = systemResolver,
    clock = systemClock,
    signal = new AbortController().signal,
  } = options;
  const client = new HttpClient({ timeoutMs: sink.timeoutMs, connections: 1, clock, resolveHost });
  onTestFinished(() => client.close());
  return deliver(sink, MESSAGE, { client, clock, signal });
}

/** A server that takes connections and says only `greeting`; it stops with the test. */
async function startGreeter(greeting = Buffer.of()): Promise<{ host: string; connections(): number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.write(greeting);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, connections: () => sockets.length };
}

/** What becomes of an attempt at a receiver that trusts nobody else. */
async function answered(handler: Handler, fields: object = {}): Promise<Outcome> {
  const receiver = await startReceiver(handler);
  const folder = folderWith({ 'ca.crt': receiver.ca });
  return attempt(sinkOf({ url: receiver.url, caFile: 'ca.crt', ...fields }, folder));
}

const reply =
  (status: number, headers = {}): Handler =>
  (_, response) =>
    void response.writeHead(status, headers).end('hunter2 hunter2');

describe('an attempt', () => {
  it.each([200, 201, 202, 204, 299])('[N5] is accepted by a %i', async (status) => {
    expect(await answered(reply(status))).toEqual({ kind: 'accepted' });
  });

  it.each([
    [400, false],
    [404, false],
    [429, false],
    [500, true],
    [503, true],
  ])('[N5] fails by a %i', async (status, mayHaveArrived) => {
    expect(await answered(reply(status))).toEqual({
      ...{ kind: 'failed', reason: `it answered ${status}`, mayHaveArrived, retryAfterMs: undefined },
    });
  });

  it('[N5] has how long a Retry-After asks to wait, in seconds or as a date', async () => {
    expect(await answered(reply(429, { 'retry-after': '7' }))).toMatchObject({ retryAfterMs: 7_000 });
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const { retryAfterMs = 0 } = (await answered(reply(503, { 'retry-after': date }))) as {
      retryAfterMs?: number;
    };
    expect(retryAfterMs).toBeGreaterThan(3_000_000);
  });

  it('[N5] is told by a 410 that nothing more is wanted', async () => {
    expect(await answered(reply(410))).toEqual({ kind: 'gone' });
  });

  it('[N6] does not follow a redirect', async () => {
    const other = await startServer(ACCEPT);
    const outcome = await answered(reply(307, { location: other.url }));
    expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: false });
    expect((outcome as { reason: string }).reason).toContain('307, a redirect, which is not followed');
    expect(other.requests).toEqual([]);
  });

  it('[N5] may have arrived if the connection closes without an answer', async () => {
    const outcome = await answered((_, response) => response.destroy());
    expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: true });
  });

  it('[N5] ends at the time limit', async () => {
    const outcome = await answered(() => undefined, { timeout: '200ms' });
    expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: true });
    expect((outcome as { reason: string }).reason).toMatch(/^127\.0\.0\.1:\d+ did not answer within 0\.2 s$/);
  });

  it('[N4] has not arrived if the time is over before there is a connection', async () => {
    const sink = sinkOf({ url: 'https://ops.example', timeout: '200ms' });
    const resolveHost: ResolveHost = () => new Promise(() => undefined);
    expect(await attempt(sink, { resolveHost })).toMatchObject({
      ...{ reason: 'ops.example:443 was not reached within 0.2 s', mayHaveArrived: false },
    });
    // It takes the connection, and does not speak TLS.
    const { host } = await startGreeter();
    expect(await attempt(sinkOf({ url: `https://${host}`, timeout: '200ms' }))).toMatchObject({
      ...{ reason: `${host} was not reached within 0.2 s`, mayHaveArrived: false },
    });
  });

  it('[N4] ends as soon as it is interrupted, even while it connects, and says so', async () => {
    const mute = await startGreeter();
    const stop = new AbortController();
    const connecting = attempt(sinkOf({ url: `https://${mute.host}` }), { signal: stop.signal });
    const receiver = await startServer(() => undefined);
    const sink = sinkOf({ url: receiver.url, allowHttp: true });
    const waiting = attempt(sink, { signal: stop.signal });
    await waitFor(() => mute.connections() === 1 && receiver.requests.length === 1);
    stop.abort();
    expect(await connecting).toMatchObject({
      ...{ reason: `${mute.host} was not reached before the attempt was interrupted`, mayHaveArrived: false },
    });
    expect(await waiting).toMatchObject({
      ...{
        reason: `${receiver.host} did not answer before the attempt was interrupted`,
        mayHaveArrived: true,
      },
    });
  });

  it('[N5] lookups of names run one at a time, so that they never occupy all threads for that', async () => {
    const running = new Map<string, () => void>();
    const resolveHost = oneAtATime(async (hostname) => {
      await new Promise<void>((resolve) => running.set(hostname, resolve));
      return [{ address: '127.0.0.1', family: 4 }];
    });
    const receiver = await startServer(ACCEPT);
    const { port } = new URL(receiver.url);
    const outcomes = ['a', 'a', 'b'].map((name) =>
      attempt(sinkOf({ url: `http://${name}.example:${port}/`, allowHttp: true }), { resolveHost }),
    );
    for (const name of ['a', 'b']) {
      await waitFor(() => running.size > 0);
      expect(Array.from(running.keys())).toEqual([`${name}.example`]);
      running.get(`${name}.example`)?.();
      running.clear();
    }
    for (const outcome of outcomes) expect(await outcome).toEqual({ kind: 'accepted' });
  });

  it('[N5] a name that does not resolve does not stop the lookups of others', async () => {
    const resolveHost = oneAtATime(async (hostname) => {
      if (hostname === 'missing.example') throw Object.assign(new Error(), { code: 'ENOTFOUND' });
      return [{ address: '127.0.0.1', family: 4 }];
    });
    const receiver = await startServer(ACCEPT);
    const { port } = new URL(receiver.url);
    const outcomes = ['missing', 'found'].map((name) =>
      attempt(sinkOf({ url: `http://${name}.example:${port}/`, allowHttp: true }), { resolveHost }),
    );
    expect(await outcomes[0]).toMatchObject({ reason: `missing.example:${port} cannot be resolved` });
    expect(await outcomes[1]).toEqual({ kind: 'accepted' });
  });

  it('[N6] reads no more than the beginning of an answer that never ends', async () => {
    let sent = 0;
    const outcome = await answered((_, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && sent < 2 ** 30 && response.write(Buffer.alloc(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    expect(outcome).toEqual({ kind: 'accepted' });
    expect(sent).toBeLessThan(2 ** 26);
  });

  it('[N5] is accepted by a status whose body never comes', async () => {
    const slow: Handler = (_, response) => void response.writeHead(200).write('x');
    expect(await answered(slow, { timeout: '300ms' })).toEqual({ kind: 'accepted' });
  });

  it('[N6] fails by a certificate that nobody trusts, and says so', async () => {
    const outcome = await answered(ACCEPT, { caFile: undefined });
    expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: false });
    expect((outcome as { reason: string }).reason).toContain('has no valid certificate');
  });

  it.each([
    ['https', 'HTTP/1.1 400 Bad Request\r\n\r\n', /does not speak TLS: check the port$/],
    ['https', 'SSH-2.0-OpenSSH_9.9\r\n', /does not speak TLS: check the port$/],
    ['http', 'SSH-2.0-OpenSSH_9.9\r\n', /does not speak HTTP$/],
    ['https', [0x15, 3, 3, 0, 2, 2, 70], /refused the TLS handshake \(\w+PROTOCOL_VERSION\)$/],
    ['https', [0x15, 3, 3, 0, 2, 2, 40], /refused the TLS handshake \(\w+HANDSHAKE_FAILURE\)$/],
  ])('[N5] says what is wrong if %s:// is answered by %j', async (scheme, greeting, reason) => {
    const { host } = await startGreeter(Buffer.from(greeting as string));
    const outcome = await attempt(sinkOf({ url: `${scheme}://${host}`, allowHttp: true }));
    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringMatching(reason) });
  });

  it('[N6] fails by a certificate for another name', async () => {
    const authority = await createAuthority();
    const receiver = await startServer(ACCEPT, await authority.server());
    const folder = folderWith({ 'ca.crt': authority.cert });
    const url = receiver.url.replace('127.0.0.1', 'other.example');
    const resolveHost: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await attempt(sinkOf({ url, caFile: 'ca.crt' }, folder), { resolveHost })).toMatchObject({
      reason: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
      mayHaveArrived: false,
    });
    expect(receiver.requests).toEqual([]);
  });

  it('[N5] has not arrived where nobody listens', async () => {
    const receiver = await startServer(ACCEPT);
    await receiver.stop();
    const outcome = await attempt(sinkOf({ url: receiver.url, allowHttp: true }));
    expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: false });
    expect((outcome as { reason: string }).reason).toContain('refused the connection');
  });

  it('[N6] refuses a name that resolves to a link-local address, even as one of several', async () => {
    const receiver = await startServer(ACCEPT);
    const { port } = new URL(receiver.url);
    const sink = sinkOf({ url: `http://metadata.example:${port}/`, allowHttp: true });
    for (const addresses of [
      ['169.254.169.254'],
      ['127.0.0.1', '169.254.169.254'],
      ['::ffff:169.254.169.254'],
      ['fe80::1%eth0'],
      ['fd00:ec2::254'],
    ]) {
      const resolveHost: ResolveHost = async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      const outcome = await attempt(sink, { resolveHost });
      expect(outcome).toMatchObject({ kind: 'failed', mayHaveArrived: false });
      expect((outcome as { reason: string }).reason).toContain('link-local or metadata address');
    }
    expect(receiver.requests).toEqual([]);
  });

  it('[N6] asks for the address at each connection, not once', async () => {
    const receiver = await startServer(ACCEPT);
    const { port } = new URL(receiver.url);
    const sink = sinkOf({ url: `http://changing.example:${port}/`, allowHttp: true });
    let address = '127.0.0.1';
    const resolveHost: ResolveHost = async () => [{ address, family: 4 }];
    expect(await attempt(sink, { resolveHost })).toEqual({ kind: 'accepted' });
    address = '169.254.169.254';
    expect(await attempt(sink, { resolveHost })).toMatchObject({ kind: 'failed' });
  });

  it.each([
    '169.254.169.254',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b::6464:64c8]',
    '[2002:a9fe:a9fe::]',
    '[2002:a83f:8110::1]',
    '[::169.254.169.254]',
    '[::ffff:0:169.254.169.254]',
    '100.100.100.200',
    '168.63.129.16',
    '[fd00:ec2::254]',
    '[fd00:ec2::23]',
    '[fd00:42::42]',
    '0.0.0.0',
    '[::]',
  ])('[N6] refuses %s', async (host) => {
    expect(await attempt(sinkOf({ url: `https://${host}/` }))).toMatchObject({
      reason: expect.stringContaining('link-local or metadata address'),
    });
  });

  it('[N6] other forms of the same address become it in a URL', () => {
    for (const host of ['2852039166', '0xa9fea9fe', '0251.0376.0251.0376']) {
      expect(() => checkHost(new URL(`http://${host}/`).hostname)).toThrow();
    }
    for (const host of ['127.0.0.1', '10.0.0.1', '[::1]', 'example.com'])
      expect(() => checkHost(host)).not.toThrow();
  });

  it('[N1] reads the files of a sink again for each attempt', async () => {
    const receiver = await startReceiver();
    const folder = folderWith({ 'ca.crt': receiver.ca, headers: 'X-Token: old\n' });
    const sink = sinkOf({ url: receiver.url, caFile: 'ca.crt', headersFile: 'headers' }, folder);
    expect(await attempt(sink)).toEqual({ kind: 'accepted' });
    writeFileSync(`${folder}/headers`, 'X-Token: new\n');
    expect(await attempt(sink)).toEqual({ kind: 'accepted' });
    expect(receiver.requests.map(({ headers }) => headers['x-token'])).toEqual(['old', 'new']);
  });

  it.each([
    ['headersFile', 'no colon', 'line 1 is not a header'],
    ['headersFile', 'Content-Type: text/plain', 'is reserved'],
    ['headersFile', 'webhook-id: mine', 'is reserved'],
    ['headersFile', 'Expect: 100-continue', 'is reserved'],
    ['urlFile', 'http://plain.example', 'must begin with https://'],
    ['caFile', undefined, 'does not exist'],
    ['caFile', 'http://plain.example', 'holds no certificate'],
  ])('[N1] says what is wrong with a %s of %j, and does not quote it', async (field, text, problem) => {
    const folder = folderWith(text === undefined ? {} : { file: text });
    const url = field === 'urlFile' ? {} : { url: 'https://ops.example.com' };
    const outcome = await attempt(sinkOf({ ...url, [field]: 'file' }, folder));
    expect(outcome).toMatchObject({ kind: 'failed', reason: expect.stringContaining(problem) });
    expect(JSON.stringify(outcome)).not.toContain('plain.example');
  });

  it('[N6] no outcome has a part of a body, sent or answered', async () => {
    for (const status of [307, 400, 500]) {
      expect(JSON.stringify(await answered(reply(status), { content: 'full' }))).not.toContain('hunter2');
    }
  });
});
