import { expect, onTestFinished, test } from 'vitest';
import { openApiClient } from './api-client.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import type { TestServer } from './servers/server.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** What the proxy must do before any API server. Its clients speak TLS. */
export function faultProxyCases(server: TestServer): void {
  const proxied = async () => {
    const place = await server.open();
    const { access } = place;
    const proxy = await startFaultProxy({ upstream: access });
    const client = openApiClient({ url: proxy.url, tls: { ca: proxy.ca ?? '' }, headers: {} });
    const direct = openApiClient(access);
    onTestFinished(async () => {
      await Promise.all([client.close(), direct.close()]);
      await proxy.stop();
    });
    const name = `proxied-${Math.random().toString(36).slice(2)}`;
    onTestFinished(async () => {
      const last = openApiClient(access);
      await last.request('DELETE', `${CONFIG_MAPS}/${name}`);
      await last.close();
      await place[Symbol.asyncDispose]();
    });
    return { proxy, client, direct, name };
  };

  test('a write whose reply is lost is carried out', async () => {
    const { proxy, client, direct, name } = await proxied();
    proxy.inject({ match: { method: 'POST' }, fault: { kind: 'lost-reply' }, times: 1 });

    await expect(client.request('POST', CONFIG_MAPS, { body: { metadata: { name } } })).rejects.toThrow();
    expect((await direct.request('GET', `${CONFIG_MAPS}/${name}`)).code).toBe(200);
    expect((await client.request('POST', CONFIG_MAPS, { body: { metadata: { name } } })).code).toBe(409);
  });

  test('a line of a watch can come twice', async () => {
    const { proxy, client, name } = await proxied();
    proxy.inject({ match: { watch: true }, fault: { kind: 'duplicate-line', line: 1 } });
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3D${name}`);
    await client.request('POST', CONFIG_MAPS, { body: { metadata: { name } } });
    await client.request('DELETE', `${CONFIG_MAPS}/${name}`);

    const lines = await watch.first(3);
    expect(lines.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'DELETED']);
    expect(lines[1]).toEqual(lines[0]);
    expect(methodsOf(proxy)).toEqual(['GET watch', 'POST', 'DELETE']);
    watch.close();
  });

  test('a watch can be cut in the middle of a line, and its client sees it end', async () => {
    const { proxy, client, name } = await proxied();
    proxy.inject({ match: { watch: true }, fault: { kind: 'cut', afterBytes: 40 } });
    const watch = await client.watch(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3D${name}`);
    await client.request('POST', CONFIG_MAPS, { body: { metadata: { name } } });

    expect(await watch.ended()).toEqual([]);
  });
}

const methodsOf = (proxy: FaultProxy) =>
  proxy.requests.map(({ method, isWatch }) => (isWatch ? `${method} watch` : method));
