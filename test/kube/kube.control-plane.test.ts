import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ConfigMapApi, createConfigMapApi } from '../../src/kube/api/config-maps.ts';
import { createListWatch } from '../../src/kube/api/http-list-watch.ts';
import type { WatchEvent } from '../../src/kube/api/list-watch.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound, isUnauthorized } from '../../src/kube/errors.ts';
import type { Transport } from '../../src/kube/http/transport.ts';
import { lacks, sharedCluster } from '../support/control-plane-suite.ts';
import { failureOf, openTransport } from './open-transport.ts';

interface Scene {
  readonly transport: Transport;
  readonly api: ConfigMapApi;
  readonly namespace: string;
  /** Of the namespace's ConfigMaps. */
  readonly path: string;
}

/** A namespace of its own, which goes with the test. */
async function openScene(): Promise<Scene> {
  const { transport } = openTransport(loadCluster({ kubeconfig: sharedCluster().kubeconfigPath, env: {} }));
  const namespace = `kube-${randomUUID().slice(0, 8)}`;
  const namespaces = '/api/v1/namespaces';
  const body = JSON.stringify({ metadata: { name: namespace } });
  await transport.call({ method: 'POST', path: namespaces, body });
  onTestFinished(
    async () => void (await transport.call({ method: 'DELETE', path: `${namespaces}/${namespace}` })),
  );
  const api = createConfigMapApi(transport, { fieldManager: 'mirror-controller' });
  return { transport, api, namespace, path: `/api/v1/namespaces/${namespace}/configmaps` };
}

const newConfigMap = (
  { namespace }: Scene,
  name: string,
  content: Pick<ConfigMap, 'data' | 'binaryData'> = {},
) => ({
  metadata: { namespace, name, labels: { 'workshop.io/managed': 'true' } },
  ...content,
});

/** Entries, since an object literal cannot show the key `__proto__`; the server sorts them. */
const entriesOf = ({ data = {}, binaryData = {} }: Pick<ConfigMap, 'data' | 'binaryData'>) => [
  Object.entries(data).sort(),
  Object.entries(binaryData).sort(),
];

describe.skipIf(lacks.cluster())('on a real API server', () => {
  test('[M3] content comes back byte for byte, with keys that JavaScript knows, unicode, and 1 MiB', async () => {
    const scene = await openScene();
    const contents: Pick<ConfigMap, 'data' | 'binaryData'>[] = [
      {},
      { data: JSON.parse('{"__proto__":"a","constructor":"b","-":"","app.v1-x":"käse 🧀\\u2028"}') },
      { binaryData: { 'logo.png': 'AP+A' } },
      { data: { big: 'ä'.repeat(500 * 1024) } },
    ];
    for (const [index, content] of contents.entries()) {
      const body = newConfigMap(scene, `c${index}`, content);
      const metadata = await scene.api.create(body);
      expect(metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['mirror-controller']);
      const read = await scene.api.get(objectKey(scene.namespace, `c${index}`));
      expect(entriesOf(read)).toEqual(entriesOf(content));
      expect(read.metadata).toEqual(metadata);
    }
  });

  test('[R2] a stale patch, a taken name, a wrong precondition and a missing object are told apart', async () => {
    const scene = await openScene();
    const { api } = scene;
    const created = await api.create(newConfigMap(scene, 'a', { data: { k: 'v' } }));
    const key = objectKey(scene.namespace, 'a');
    expect(isAlreadyExists(await failureOf(api.create(newConfigMap(scene, 'a'))))).toBe(true);

    const patch = { metadata: { resourceVersion: created.resourceVersion }, data: { k: 'w' } };
    const patched = await api.patch(key, patch);
    expect(patched.resourceVersion).not.toBe(created.resourceVersion);
    expect(isConflict(await failureOf(api.patch(key, patch)))).toBe(true);
    const tooLong = newConfigMap(scene, 'a'.repeat(254));
    expect(isInvalid(await failureOf(api.create(tooLong)))).toBe(true);

    const { uid, resourceVersion } = patched;
    const stale = { uid, resourceVersion: created.resourceVersion };
    expect(isConflict(await failureOf(api.delete(key, stale)))).toBe(true);
    expect(isConflict(await failureOf(api.delete(key, { uid: randomUUID(), resourceVersion })))).toBe(true);
    await api.delete(key, { uid, resourceVersion });
    expect(isNotFound(await failureOf(api.get(key)))).toBe(true);
  });

  test('[M3] a directive replaces a map that is there, and is dropped with its entries where none is', async () => {
    const scene = await openScene();
    const { api } = scene;
    const { resourceVersion } = await api.create(newConfigMap(scene, 'a', { data: { k: 'v', l: 'v' } }));
    const key = objectKey(scene.namespace, 'a');
    await api.patch(key, {
      metadata: { resourceVersion, ownerReferences: [{ $patch: 'replace' }] },
      data: { $patch: 'replace', k: 'w' },
      binaryData: { $patch: 'replace', b: 'AA==' },
    });
    const after = await api.get(key);
    expect([after.data, after.binaryData]).toEqual([{ k: 'w' }, undefined]);
  });

  test('[W2] a list comes in pages, whole or as metadata', async () => {
    const scene = await openScene();
    for (const name of ['a', 'b', 'c'])
      await scene.api.create(newConfigMap(scene, name, { data: { k: name } }));
    const labelSelector = 'workshop.io/managed in (true,companion)';
    const { signal } = new AbortController();
    for (const metadataOnly of [false, true]) {
      const { list } = createListWatch<ConfigMap>(scene.transport, {
        path: scene.path,
        labelSelector,
        metadataOnly,
      });
      const first = await list({ limit: 2 }, signal);
      const second = await list({ limit: 2, continue: first.continue ?? '' }, signal);
      const items = [...first.items, ...second.items];
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
      expect(items.map(({ data }) => data?.['k'])).toEqual(
        metadataOnly ? [undefined, undefined, undefined] : ['a', 'b', 'c'],
      );
      expect(second.continue).toBeUndefined();
      expect(second.resourceVersion).toBe(first.resourceVersion);
    }
  });

  test('[W2] [W3] a streaming list ends with its bookmark, goes on as a watch, and can be resumed', async () => {
    const scene = await openScene();
    await scene.api.create(newConfigMap(scene, 'a', { data: { k: 'v' } }));
    const { watch } = createListWatch<ConfigMap>(scene.transport, {
      path: scene.path,
      labelSelector: 'workshop.io/managed=true',
    });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const seen: WatchEvent<ConfigMap>[] = [];
    let resumeAt = '';
    for await (const batch of watch({ sendInitialEvents: true, timeoutSeconds: 60 }, stop.signal)) {
      seen.push(...batch);
      const end = batch.find((event) => event.type === 'BOOKMARK' && event.initialEventsEnd);
      if (end?.type === 'BOOKMARK') {
        resumeAt = end.resourceVersion;
        await scene.api.create(newConfigMap(scene, 'b'));
      }
      if (seen.at(-1)?.type === 'ADDED' && resumeAt !== '') break;
    }
    // A server may send a bookmark at any time.
    const told = seen.filter((event) => event.type !== 'BOOKMARK' || event.initialEventsEnd);
    expect(told.map((event) => (event.type === 'BOOKMARK' ? 'end' : event.object.metadata.name))).toEqual([
      'a',
      'end',
      'b',
    ]);

    let change: WatchEvent<ConfigMap> | undefined;
    for await (const batch of watch(
      { resourceVersion: resumeAt, sendInitialEvents: false, timeoutSeconds: 60 },
      stop.signal,
    )) {
      change = batch.find(({ type }) => type !== 'BOOKMARK');
      if (change !== undefined) break;
    }
    expect(change).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  });

  test('[O5] a token that the server does not know is unauthorized', async () => {
    const cluster = loadCluster({ kubeconfig: sharedCluster().kubeconfigPath, env: {} });
    const { transport } = openTransport({
      ...cluster,
      user: { name: 'eve', token: { kind: 'inline', text: 'unknown' } },
    });
    expect(
      isUnauthorized(await failureOf(transport.call({ method: 'GET', path: '/api/v1/namespaces' }))),
    ).toBe(true);
  });
});
