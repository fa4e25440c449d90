import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { configMap, MERGE, OTHER_UID, useRoom } from './room.ts';

export function crudContract(server: TestServer): void {
  describe('create, get, list, update', () => {
    const room = useRoom(server, 'crud');
    const { create, path, request } = room;

    test('a created object is returned with the fields that the server adds', async () => {
      const created = await request('POST', path(), { body: configMap('new', { data: { k: 'v' } }) });
      const read = await request('GET', path('new'));

      expect(read.body).toEqual(created.body);
    });

    test('a client cannot choose the uid, times or generation of an object that it creates', async () => {
      const chosen = {
        uid: OTHER_UID,
        creationTimestamp: '2026-01-02T00:00:00Z',
        deletionTimestamp: '2026-01-02T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        selfLink: '/x',
      };
      const { body } = await request('POST', path(), { body: configMap('chosen', { metadata: chosen }) });

      expect(body.metadata.uid).not.toBe(OTHER_UID);
      expect(body.metadata.creationTimestamp).not.toBe(chosen.creationTimestamp);
    });

    test('kind, apiVersion and the namespace may be omitted', async () => {
      await request('POST', path(), { body: { metadata: { name: 'bare' } } });
    });

    test('YAML is accepted as well as JSON', async () => {
      const body = 'metadata:\n  name: yaml\ndata: {a: b}\n';
      await request('POST', path(), { body, contentType: 'application/yaml' });
    });

    test('every byte of data and binaryData is stored', async () => {
      const data = { unicode: 'Grüße 🚀 \u0000\u0001\u2028', 'with.dots-and_dashes': '', __proto: 'x' };
      const fields = { data, binaryData: { raw: '/w==', none: '' } };
      const { body } = await request('POST', path(), { body: configMap('bytes', fields) });

      expect(body.data).toEqual(data);
    });

    test('a create with the name of an existing object is refused', async () => {
      await create('taken');
      await request('POST', path(), { body: configMap('taken') });
    });

    test('a create with a resourceVersion is refused', async () => {
      await request('POST', path(), { body: configMap('versioned', { metadata: { resourceVersion: '1' } }) });
    });

    test('generateName makes a name, unless there is one', async () => {
      const { code, body } = await request('POST', path(), { body: { metadata: { generateName: 'gen-' } } });

      expect(code).toBe(201);
      expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(body.metadata).toMatchObject({ generateName: 'gen-' });
      await request('POST', path(), { body: { metadata: { generateName: 'gen-', name: 'has-a-name' } } });
      await request('POST', path(), { body: { metadata: { generateName: 'Gen_', name: 'named' } } });
    });

    test('an absent object cannot be read, updated or deleted', async () => {
      await request('GET', path('absent'));
      await request('PUT', path('absent'), { body: configMap('absent') });
      await request('PUT', path('absent'), {
        body: configMap('absent', { metadata: { resourceVersion: '1' } }),
      });
      await request('DELETE', path('absent'));
    });

    test('an update replaces the object and keeps the fields of the server', async () => {
      const labelled = { metadata: { labels: { a: 'b' } }, data: { k: 'v' } };
      const before = await create('updated', labelled);
      const { body } = await request('PUT', path('updated'), {
        body: configMap('updated', { data: { k: 'w' } }),
      });

      expect(body.metadata).toMatchObject({
        uid: before.metadata.uid,
        creationTimestamp: before.metadata.creationTimestamp,
      });
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    });

    test('an update that changes nothing keeps the resourceVersion', async () => {
      const before = await create('unchanged', { data: { k: 'v' } });
      const { body } = await request('PUT', path('unchanged'), {
        body: configMap('unchanged', { data: { k: 'v' } }),
      });

      expect(body.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    test('an update with another resourceVersion or uid is refused', async () => {
      const { metadata } = await create('expected');
      const put = (fields: object) =>
        request('PUT', path('expected'), {
          body: configMap('expected', { data: { k: 'v' }, metadata: fields }),
        });

      await put({ resourceVersion: '1' });
      await put({ uid: OTHER_UID });
      await put({ resourceVersion: 'nonsense' });
      await put({ resourceVersion: metadata.resourceVersion, uid: metadata.uid });
    });

    test('an update with another name than that of its path is refused', async () => {
      await create('one');
      await request('PUT', path('one'), { body: configMap('two') });
      await request('PUT', path('one'), { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } });
    });

    test('a list is sorted by name, and has a resourceVersion of its own', async () => {
      const labels = { list: 'yes' };
      for (const name of ['l-b', 'l-a', 'l-c']) await create(name, { metadata: { labels } });
      const { body } = await request('GET', `${path()}?labelSelector=list%3Dyes`);

      expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['l-a', 'l-b', 'l-c']);
      const versions = body.items.map(({ metadata }) => Number(metadata.resourceVersion));
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Math.max(...versions));
    });

    test('a list can cover all namespaces', async () => {
      await create('everywhere', { metadata: { labels: { everywhere: room.namespace } } });
      await request('GET', `/api/v1/configmaps?labelSelector=everywhere%3D${room.namespace}`);
    });

    test('a list can be empty', async () => {
      await request('GET', `${path()}?labelSelector=no%3Dsuch`);
    });

    test('a get and a list accept a resourceVersion', async () => {
      const { metadata } = await create('read', { metadata: { labels: { read: 'yes' } } });
      const list = (query: string) => request('GET', `${path()}?labelSelector=read%3Dyes&${query}`);

      await request('GET', `${path('read')}?resourceVersion=0`);
      await request('GET', `${path('read')}?resourceVersion=nonsense`);
      await list('resourceVersion=0');
      await list('resourceVersion=0&resourceVersionMatch=Exact');
      await list('resourceVersionMatch=Exact');
      await list('resourceVersion=1&resourceVersionMatch=Nonsense');
      await list('resourceVersion=nonsense');
      const version = metadata.resourceVersion;
      const exact = await request('GET', `${path()}?resourceVersion=${version}&resourceVersionMatch=Exact`);
      expect(exact.body.metadata.resourceVersion).toBe(version);
      const newer = await request(
        'GET',
        `${path()}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      );
      expect(newer.code).toBe(200);
    });

    test('a get at a resourceVersion of the future is refused', async () => {
      await create('future');
      await request('GET', `${path('future')}?resourceVersion=99999999999`);
    });

    test('a dry run gets the answer of the real request, and changes nothing', async () => {
      await request('POST', `${path()}?dryRun=All`, { body: configMap('dry') });
      await request('GET', path('dry'));
      await request('POST', `${path()}?dryRun=Yes`, { body: configMap('dry') });

      await create('wet', { data: { k: 'v' } });
      const merge = { body: { data: { k: 'w' } }, contentType: MERGE };
      await request('PUT', `${path('wet')}?dryRun=All`, { body: configMap('wet') });
      await request('PATCH', `${path('wet')}?dryRun=All`, merge);
      await request('DELETE', `${path('wet')}?dryRun=All`);
      await request('GET', path('wet'));
    });
  });
}
