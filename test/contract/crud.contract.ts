import { describe, expect, test } from 'vitest';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

const OTHER_UID = '11111111-1111-1111-1111-111111111111';

export function crudContract(server: Server): void {
  describe('create, get, list, update', () => {
    const room = useRoom(server, 'crud');
    const { check, create, path, request } = room;

    test('what is created comes back with what the server adds', async () => {
      const created = await check('POST', path(), { body: configMap('new', { data: { k: 'v' } }) });
      const read = await check('GET', path('new'));

      expect(read.body).toEqual(created.body);
    });

    test('a client does not choose uid, times or generation of what it creates', async () => {
      const chosen = {
        uid: OTHER_UID,
        creationTimestamp: '2020-01-01T00:00:00Z',
        deletionTimestamp: '2020-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        selfLink: '/x',
      };
      const { body } = await check('POST', path(), { body: configMap('chosen', { metadata: chosen }) });

      expect(body.metadata.uid).not.toBe(OTHER_UID);
      expect(body.metadata.creationTimestamp).not.toBe(chosen.creationTimestamp);
    });

    test('kind and apiVersion may be missing, the namespace too', async () => {
      await check('POST', path(), { body: { metadata: { name: 'bare' } } });
    });

    test('YAML is taken as well as JSON', async () => {
      const body = 'metadata:\n  name: yaml\ndata: {a: b}\n';
      await check('POST', path(), { body, contentType: 'application/yaml' });
    });

    test('every byte of data and binaryData comes back', async () => {
      const data = { unicode: 'Grüße 🚀 \u0000\u0001\u2028', 'with.dots-and_dashes': '', __proto: 'x' };
      const fields = { data, binaryData: { raw: '/w==', none: '' } };
      const { body } = await check('POST', path(), { body: configMap('bytes', fields) });

      expect(body.data).toEqual(data);
    });

    test('a name that is taken', async () => {
      await create('taken');
      await check('POST', path(), { body: configMap('taken') });
    });

    test('a resourceVersion on what is to be created', async () => {
      await check('POST', path(), { body: configMap('versioned', { metadata: { resourceVersion: '5' } }) });
    });

    test('generateName', async () => {
      const { code, body } = await request('POST', path(), { body: { metadata: { generateName: 'gen-' } } });

      expect(code).toBe(201);
      expect(body.metadata.name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(body.metadata).toMatchObject({ generateName: 'gen-' });
      await check('POST', path(), { body: { metadata: { generateName: 'gen-', name: 'has-a-name' } } });
      await check('POST', path(), { body: { metadata: { generateName: 'Gen_', name: 'named' } } });
    });

    test('what is not there', async () => {
      await check('GET', path('absent'));
      await check('PUT', path('absent'), { body: configMap('absent') });
      await check('PUT', path('absent'), {
        body: configMap('absent', { metadata: { resourceVersion: '1' } }),
      });
      await check('DELETE', path('absent'));
    });

    test('an update replaces the object and keeps what is the server’s', async () => {
      const labelled = { metadata: { labels: { a: 'b' } }, data: { k: 'v' } };
      const before = await create('updated', labelled);
      const { body } = await check('PUT', path('updated'), {
        body: configMap('updated', { data: { k: 'w' } }),
      });

      expect(body.metadata).toMatchObject({
        uid: before.metadata.uid,
        creationTimestamp: before.metadata.creationTimestamp,
      });
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
    });

    test('an update that changes nothing leaves the resourceVersion as it is', async () => {
      const before = await create('unchanged', { data: { k: 'v' } });
      const { body } = await check('PUT', path('unchanged'), {
        body: configMap('unchanged', { data: { k: 'v' } }),
      });

      expect(body.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    });

    test('an update carries the resourceVersion and uid that it expects', async () => {
      const { metadata } = await create('expected');
      const put = (fields: object) =>
        check('PUT', path('expected'), {
          body: configMap('expected', { data: { k: 'v' }, metadata: fields }),
        });

      await put({ resourceVersion: '1' });
      await put({ uid: OTHER_UID });
      await put({ resourceVersion: 'nonsense' });
      await put({ resourceVersion: metadata.resourceVersion, uid: metadata.uid });
    });

    test('the name in the body is the one in the path', async () => {
      await create('one');
      await check('PUT', path('one'), { body: configMap('two') });
      await check('PUT', path('one'), { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} } });
    });

    test('a list is in the order of names, with a resourceVersion of its own', async () => {
      const labels = { list: 'yes' };
      for (const name of ['l-b', 'l-a', 'l-c']) await create(name, { metadata: { labels } });
      const { body } = await check('GET', `${path()}?labelSelector=list%3Dyes`);

      expect(body.items.map(({ metadata }) => metadata.name)).toEqual(['l-a', 'l-b', 'l-c']);
      const versions = body.items.map(({ metadata }) => Number(metadata.resourceVersion));
      expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Math.max(...versions));
    });

    test('a list over all namespaces', async () => {
      await create('everywhere', { metadata: { labels: { everywhere: room.namespace } } });
      await check('GET', `/api/v1/configmaps?labelSelector=everywhere%3D${room.namespace}`);
    });

    test('an empty list', async () => {
      await check('GET', `${path()}?labelSelector=no%3Dsuch`);
    });

    test('a read at a resourceVersion', async () => {
      const { metadata } = await create('read', { metadata: { labels: { read: 'yes' } } });
      const list = (query: string) => check('GET', `${path()}?labelSelector=read%3Dyes&${query}`);

      await check('GET', `${path('read')}?resourceVersion=0`);
      await check('GET', `${path('read')}?resourceVersion=nonsense`);
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

    test('a read at a resourceVersion that is yet to come', async () => {
      await create('future');
      await check('GET', `${path('future')}?resourceVersion=99999999999`);
    });

    test('a dry run answers as if it were done, and does nothing', async () => {
      await check('POST', `${path()}?dryRun=All`, { body: configMap('dry') });
      await check('GET', path('dry'));
      await check('POST', `${path()}?dryRun=Yes`, { body: configMap('dry') });

      await create('wet', { data: { k: 'v' } });
      const merge = { body: { data: { k: 'w' } }, contentType: 'application/merge-patch+json' };
      await check('PUT', `${path('wet')}?dryRun=All`, { body: configMap('wet') });
      await check('PATCH', `${path('wet')}?dryRun=All`, merge);
      await check('DELETE', `${path('wet')}?dryRun=All`);
      await check('GET', path('wet'));
    });
  });
}
