/** What only the sandbox has: its counts, compaction, outage, stop and served kinds. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createSandbox, servedKinds } from '../../src/sandbox/sandbox.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Answer, CONFIGMAPS, JSON_TYPE, useSandbox, versionOf } from './client.ts';

const client = useSandbox();
const { request, create } = client;

describe('[B1] the sandbox itself', () => {
  test('counts requests by verb and resource, refused ones included', async () => {
    await create('a');
    await create('a');
    await request(CONFIGMAPS);
    await request(`${CONFIGMAPS}/a`, { method: 'DELETE' });
    expect(client.sandbox.requestCounts()).toEqual([
      { verb: 'create', resource: 'configmaps', count: 2 },
      { verb: 'list', resource: 'configmaps', count: 1 },
      { verb: 'delete', resource: 'configmaps', count: 1 },
    ]);
  });

  test('an outage refuses the writes of the controller, and nothing else', async () => {
    const controller = { 'User-Agent': 'mirror-controller/0.1.0 (linux)' };
    client.sandbox.outage({ code: 503, reason: 'ServiceUnavailable', message: 'down for the demo' });
    const body = '{"metadata":{"name":"x"}}';
    const refused = await request(CONFIGMAPS, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...controller },
      body,
    });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      kind: 'Status',
      reason: 'ServiceUnavailable',
      message: 'down for the demo',
    });
    expect((await request(CONFIGMAPS, { headers: controller })).status).toBe(200);
    expect((await create('person')).status).toBe(201);
    client.sandbox.outage(undefined);
    const taken = await request(CONFIGMAPS, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...controller },
      body,
    });
    expect(taken.status).toBe(201);
  });

  test('a port that is in use is reported as such', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const other = createSandbox({ now: () => new Date(), uid: () => 'u' });
    await expect(other.start(port)).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
    server.close();
    await other.stop();
  });

  test('stop ends watches and idle connections', async () => {
    const seen = await client.watch('');
    await request(CONFIGMAPS);
    await client.sandbox.stop();
    await seen.done;
    await expect(request('/healthz')).rejects.toThrow();
  });

  test('servedKinds lists the kinds that discovery lists', async () => {
    const listed: string[] = [];
    for (const path of ['/api/v1', '/apis/coordination.k8s.io/v1', '/apis/events.k8s.io/v1']) {
      const { resources } = (await (await request(path)).json()) as { resources: { kind: string }[] };
      listed.push(...resources.map(({ kind }) => kind));
    }
    expect(servedKinds()).toEqual(['ConfigMap', 'Event', 'Lease', 'Namespace']);
    expect(servedKinds()).toEqual([...new Set(listed)].sort());
  });

  test('the kubeconfig names the url and the context sandbox', () => {
    expect(client.sandbox.kubeconfig()).toContain(`server: ${client.sandbox.url}\n`);
    expect(client.sandbox.kubeconfig()).toContain('current-context: sandbox\n');
    expect(client.sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test('a write that changes nothing makes no version and no event', async () => {
    await create('same', { data: { a: '1' } });
    const before = await versionOf(client, `${CONFIGMAPS}/same`);
    const seen = await client.watch(`resourceVersion=${before}`);
    for (const [method, type, body] of [
      ['PATCH', 'application/merge-patch+json', '{"data":{"a":"1"}}'],
      ['PATCH', 'application/json-patch+json', '[]'],
      ['PATCH', 'application/strategic-merge-patch+json', '{}'],
      ['PUT', 'application/json', '{"metadata":{"name":"same"},"data":{"a":"1"}}'],
    ] as const) {
      const response = await request(`${CONFIGMAPS}/same`, {
        method,
        headers: { 'Content-Type': type },
        body,
      });
      expect(((await response.json()) as Answer).metadata.resourceVersion, `${method} ${type}`).toBe(before);
    }
    await create('marker');
    await waitFor(() => seen.events.length > 0);
    expect(seen.events[0]?.object.metadata.name).toBe('marker');
    seen.abort();
  });
});
