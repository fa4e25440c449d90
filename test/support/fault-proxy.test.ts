import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { busiest, type FaultProxy, type ProxiedRequest, startFaultProxy } from './fault-proxy.ts';
import type { Fault } from './fault-proxy-rules.ts';
import { waitFor } from './wait-for.ts';

const LINES = ['one', 'two', 'three'] as const;
const WHOLE = 'one\ntwo\nthree\n';

/**
 * A server that answers with three lines in chunks of their own, a watch's stays open after them;
 * and a proxy before it.
 */
async function proxied() {
  const served: string[] = [];
  const watches: http.ServerResponse[] = [];
  const server = http.createServer(async (incoming, reply) => {
    served.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    if (incoming.url?.includes('watch')) watches.push(reply);
    for (const line of LINES) {
      reply.write(`${line}\n`);
      await new Promise(setImmediate);
    }
    if (!incoming.url?.includes('watch')) reply.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = await startFaultProxy({
    upstream: { url, tls: {}, headers: { authorization: 'Bearer own' } },
  });
  const agent = new Agent({ connect: { ca: proxy.ca ?? '' }, bodyTimeout: 300 });
  onTestFinished(async () => {
    await agent.destroy();
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  });
  return { proxy, agent, served, watches };
}

/** What a client reads until the reply ends, and how it ends. */
async function read(proxy: FaultProxy, agent: Agent, path = '/') {
  let text = '';
  try {
    const { statusCode, headers, body } = await request(`${proxy.url}${path}`, { dispatcher: agent });
    for await (const chunk of body) text += String(chunk);
    return { text, statusCode, retryAfter: headers['retry-after'] };
  } catch (error) {
    return { text, code: (error as { code?: string }).code };
  }
}

describe('[B2] the fault proxy', () => {
  test('passes a request on with the credentials of its own, unless the client brings some', async () => {
    const { proxy, agent, served } = await proxied();

    expect(await read(proxy, agent)).toMatchObject({ text: WHOLE, statusCode: 200 });
    await request(`${proxy.url}/x`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: 'Bearer mine' },
    });

    expect(served).toEqual(['GET / Bearer own', 'POST /x Bearer mine']);
    expect(proxy.requests).toMatchObject([
      { method: 'GET', path: '/', isWatch: false, status: 200 },
      { method: 'POST', path: '/x', isWatch: false, status: 200 },
    ]);
  });

  test('answers with a Status of its own', async () => {
    const { proxy, agent, served } = await proxied();
    const fault = proxy.inject({ fault: { kind: 'status', code: 429, retryAfterSeconds: 7 } });

    const { text = '', ...head } = await read(proxy, agent);

    expect(head).toEqual({ statusCode: 429, retryAfter: '7' });
    expect(JSON.parse(text)).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      code: 429,
      details: { retryAfterSeconds: 7 },
    });
    expect(served).toEqual([]);
    expect(fault.hits()).toBe(1);
  });

  test.each<{ fault: Fault; sees: object; isServed: boolean }>([
    { fault: { kind: 'reset' }, sees: { text: '', code: 'UND_ERR_SOCKET' }, isServed: false },
    { fault: { kind: 'lost-reply' }, sees: { text: '', code: 'UND_ERR_SOCKET' }, isServed: true },
    { fault: { kind: 'delay', ms: 1 }, sees: { text: WHOLE }, isServed: true },
    {
      fault: { kind: 'cut', afterBytes: 6 },
      sees: { text: 'one\ntw', code: 'UND_ERR_SOCKET' },
      isServed: true,
    },
    {
      fault: { kind: 'silence', afterBytes: 6 },
      sees: { text: 'one\ntw', code: 'UND_ERR_BODY_TIMEOUT' },
      isServed: true,
    },
    { fault: { kind: 'duplicate-line', line: 2 }, sees: { text: 'one\ntwo\ntwo\nthree\n' }, isServed: true },
    { fault: { kind: 'truncated-line', line: 3 }, sees: { text: 'one\ntwo\nthr' }, isServed: true },
    {
      fault: { kind: 'replaced-line', line: 1, text: '{' },
      sees: { text: '{\ntwo\nthree\n' },
      isServed: true,
    },
  ])('does harm of the kind $fault.kind', async ({ fault, sees, isServed }) => {
    const { proxy, agent, served } = await proxied();
    proxy.inject({ fault, times: 1 });

    expect(await read(proxy, agent)).toMatchObject(sees);
    await waitFor(() => served.length === (isServed ? 1 : 0));
    // The rule is used up, and nothing is left of it.
    expect(await read(proxy, agent)).toMatchObject({ text: WHOLE, statusCode: 200 });
  });

  test.each<Fault>([{ kind: 'no-answer' }, { kind: 'delay', ms: 60_000 }])(
    'a request with the fault $kind waits for as long as its client does',
    async (fault) => {
      const { proxy, served } = await proxied();
      const impatient = new Agent({ connect: { ca: proxy.ca ?? '' }, headersTimeout: 100 });
      proxy.inject({ fault });

      expect(await read(proxy, impatient)).toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
      expect(served).toEqual([]);
      await impatient.destroy();
    },
  );

  test('a rule harms the requests that it matches, after those that it skips, as often as it says', async () => {
    const { proxy, agent } = await proxied();
    const fault: Fault = { kind: 'status', code: 500 };
    proxy.inject({ match: { method: ['GET', 'PUT'], path: /^\/a/, watch: false }, fault, skip: 1, times: 2 });
    const codes: unknown[] = [];
    for (const path of ['/a', '/b', '/a', '/a?x', '/a'])
      codes.push((await read(proxy, agent, path)).statusCode);

    expect(codes).toEqual([200, 200, 500, 500, 200]);
  });

  test('replies under way can be cut or silenced', async () => {
    const { proxy, agent, watches } = await proxied();
    const watch = async () => {
      const { body } = await request(`${proxy.url}/?watch=true`, { dispatcher: agent, bodyTimeout: 0 });
      const chunks = body.iterator({ destroyOnReturn: false });
      let text = '';
      while (text !== WHOLE) text += String((await chunks.next()).value);
      return { body, next: () => chunks.next() };
    };

    const [first, second] = [await watch(), await watch()];
    proxy.cutOpenReplies();
    await expect(first.next()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    await expect(second.next()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });

    const silenced = await watch();
    proxy.silenceOpenReplies();
    const heard = await watch();
    let wasSilent = true;
    const noteMore = () => {
      wasSilent = false;
    };
    void silenced.next().then(noteMore, noteMore);
    // The silenced one is written to first, so it would be heard of by the third round trip of the
    // other.
    for (const line of ['four\n', 'five\n', 'six\n']) {
      for (const reply of watches.slice(-2)) reply.write(line);
      expect(String((await heard.next()).value)).toBe(line);
    }
    expect(wasSilent).toBe(true);
    for (const { body } of [silenced, heard]) body.on('error', () => undefined).destroy();
  });

  test('it can refuse connections and accept them again on the same port', async () => {
    const { proxy, agent } = await proxied();

    await proxy.refuseConnections();
    expect(await read(proxy, agent)).toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.acceptConnections();
    expect(await read(proxy, agent)).toMatchObject({ text: WHOLE });
  });

  test('the busiest second is where most requests lie within one', () => {
    const at = (time: number): ProxiedRequest => ({ method: 'GET', path: '/', isWatch: false, at: time });

    expect(busiest([0, 500, 999, 1000, 1400, 3000].map(at))).toBe(4);
    expect(busiest([])).toBe(0);
  });
});
