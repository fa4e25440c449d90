import { CoordinationV1Api, V1MicroTime } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { typedApiConfiguration } from '../../src/kube/typed-api.ts';
import { sendJson, startServer } from './loopback-server.ts';
import { failureOf, openTransport } from './open-transport.ts';

test('[L1] the typed APIs of the client library work on the transport, MicroTime included', async () => {
  const server = await startServer((request, response) => sendJson(response, 201, JSON.parse(request.body)));
  const { transport } = openTransport({ server: `${server.url}/prefix` });
  const api = new CoordinationV1Api(typedApiConfiguration(transport));
  const renewTime = new V1MicroTime('2026-01-01T00:00:00.123Z');
  const lease = await api.createNamespacedLease({
    namespace: 'ns',
    body: { metadata: { name: 'lock' }, spec: { holderIdentity: 'me', renewTime } },
  });
  expect(lease.spec?.holderIdentity).toBe('me');
  expect(server.requests[0]?.url.pathname).toBe('/prefix/apis/coordination.k8s.io/v1/namespaces/ns/leases');
  expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({
    spec: { renewTime: '2026-01-01T00:00:00.123000Z' },
  });
});

test('a failure of a typed API is our ApiError or NetworkError', async () => {
  const server = await startServer((_, response) =>
    sendJson(response, 403, { kind: 'Status', message: 'leases is forbidden', reason: 'Forbidden' }),
  );
  const { transport, stop } = openTransport({ server: server.url });
  const api = new CoordinationV1Api(typedApiConfiguration(transport));
  const read = () => failureOf(api.readNamespacedLease({ namespace: 'ns', name: 'lock' }));
  expect(await read()).toMatchObject({ name: 'ApiError', status: 403, reason: 'Forbidden' });
  stop.abort();
  expect(await read()).toMatchObject({ name: 'NetworkError', code: 'ABORTED' });
});
