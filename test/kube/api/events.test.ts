import { expect, test } from 'vitest';
import { createEventApi, type NewEvent } from '../../../src/kube/api/events.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { sendJson, startServer } from '../loopback-server.ts';
import { failureOf, openTransport } from '../open-transport.ts';

const KEY = 'home/colors.1' as ObjectKey;
const EVENT: NewEvent = {
  metadata: { namespace: 'home', name: 'colors.1' },
  regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'home', name: 'colors', uid: 'u' },
  ...{ type: 'Normal', reason: 'Healed', action: 'Heal', note: 'it was blue' },
  ...{ eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'x/y', reportingInstance: 'here' },
};
const ANSWER = { metadata: { resourceVersion: '1' }, series: { count: 3 } };
const { signal } = new AbortController();

async function start(mayBeSent = () => true) {
  const server = await startServer((_, response) => sendJson(response, 200, ANSWER));
  const { transport } = openTransport({ server: server.url });
  return { server, api: createEventApi(transport, { fieldManager: 'somebody', mayBeSent }) };
}

test('[O3] Events are created and counted in events.k8s.io, and their text changes in the core group', async () => {
  const { server, api } = await start();
  const series = { count: 2, lastObservedTime: '2026-01-01T00:00:01.000000Z' };
  await api.create(EVENT, signal);
  await api.patchSeries(KEY, series, signal);
  expect(await api.patchMessage(KEY, { message: 'it was green', series }, signal)).toEqual(ANSWER);
  const path = 'v1/namespaces/home/events';
  const query = '?fieldManager=somebody';
  expect(server.requests.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    `POST /apis/events.k8s.io/${path}${query}`,
    `PATCH /apis/events.k8s.io/${path}/colors.1${query}`,
    `PATCH /api/${path}/colors.1${query}`,
  ]);
});

test('[L1] no Event is sent by a replica that may not write', async () => {
  const { server, api } = await start(() => false);
  expect(await failureOf(api.create(EVENT, signal))).toMatchObject({ code: 'ABORTED' });
  expect(await failureOf(api.patchMessage(KEY, { message: 'x' }, signal))).toMatchObject({ code: 'ABORTED' });
  expect(server.requests).toEqual([]);
});
