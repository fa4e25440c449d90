import { describe, expect, test } from 'vitest';
import type { WatchLine } from '../support/api-client.ts';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

const MERGE = 'application/merge-patch+json';
const STREAM = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

/** No server gets so far. */
const FUTURE = 99_999_999_999;

const told = (lines: readonly WatchLine[]) =>
  lines.map(({ type, object }) => `${type} ${object.metadata.name}`);

export function watchContract(server: Server): void {
  describe('watch', () => {
    const { check, create, namespace, path, request, same, watch } = useRoom(server, 'watch');
    const merge = (name: string, body: object) => request('PATCH', path(name), { body, contentType: MERGE });
    const version = async () => (await request('GET', `${path()}?limit=1`)).body.metadata.resourceVersion;

    test('from a resourceVersion: what happened since, in order, then what happens', async () => {
      const start = await version();
      await create('since', { data: { k: 'v' } });
      await merge('since', { data: { k: 'w' } });
      await request('DELETE', path('since'));
      const open = await watch(`resourceVersion=${start}`);
      await open.first(3);
      await create('then');

      const lines = await open.first(4);
      same(lines);
      const versions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      // A deletion is a version of its own, not the last one of the object.
      expect(new Set(versions).size).toBe(4);
      await request('DELETE', path('then'));
    });

    test.each(['', 'resourceVersion=0'])(
      'from nowhere ("%s"): what there is comes first, as added',
      async (from) => {
        await create('there', { metadata: { labels: { from: 'nowhere' } } });
        const open = await watch(`${from}&labelSelector=from%3Dnowhere`);
        await open.first(1);
        await merge('there', { data: { k: 'v' } });

        same(await open.first(2));
        await request('DELETE', path('there'));
      },
    );

    test('[W2] sendInitialEvents: what there is, a bookmark that ends it, then what happens', async () => {
      const labels = { stream: 'yes' };
      await create('s-a', { metadata: { labels } });
      await create('s-b', { metadata: { labels } });
      const open = await watch(`${STREAM}&labelSelector=stream%3Dyes`);
      await open.first(3);
      await create('s-c', { metadata: { labels } });

      const lines = await open.first(4);
      same(lines);
      const [, newest, bookmark, next] = lines.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(bookmark).toBeGreaterThanOrEqual(newest ?? 0);
      expect(next).toBeGreaterThan(bookmark ?? 0);
    });

    test('[W2] sendInitialEvents of nothing is only the bookmark', async () => {
      same(await (await watch(`${STREAM}&labelSelector=no%3Dsuch`)).first(1));
    });

    test('sendInitialEvents without bookmarks does not tell where they end', async () => {
      await create('unmarked', { metadata: { labels: { unmarked: 'yes' } } });
      const parameters = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
      const open = await watch(`${parameters}&labelSelector=unmarked`);

      expect(told(await open.ended())).toEqual(['ADDED unmarked']);
    });

    test('sendInitialEvents with parameters that do not go with it', async () => {
      const target = `${path()}?watch=true&timeoutSeconds=1`;
      await check('GET', `${target}&sendInitialEvents=true`);
      await check(
        'GET',
        `${target}&sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true`,
      );
      await check('GET', `${target}&resourceVersionMatch=NotOlderThan&resourceVersion=1`);
    });

    test('an object that stops matching is a DELETED, one that begins to is an ADDED', async () => {
      await create('moving');
      const open = await watch(`resourceVersion=${await version()}&labelSelector=in%3Dyes`);
      await merge('moving', { metadata: { labels: { in: 'yes' } } });
      await merge('moving', { data: { k: 'v' } });
      await merge('moving', { metadata: { labels: { in: 'no' } }, data: { k: 'w' } });
      await merge('moving', { data: { k: 'unseen' } });
      await merge('moving', { metadata: { labels: { in: 'yes' } } });
      await request('DELETE', path('moving'));

      const lines = await open.first(5);
      expect(told(lines)).toEqual([
        'ADDED moving',
        'MODIFIED moving',
        'DELETED moving',
        'ADDED moving',
        'DELETED moving',
      ]);
      same(lines);
    });

    test('one object, by field selector', async () => {
      await create('only');
      await create('other');
      const open = await watch(`resourceVersion=${await version()}&fieldSelector=metadata.name%3Donly`);
      await merge('other', { data: { k: 'v' } });
      await merge('only', { data: { k: 'v' } });
      await request('DELETE', path('only'));

      expect(told(await open.first(2))).toEqual(['MODIFIED only', 'DELETED only']);
    });

    test('the path of one object cannot be watched: it is read', async () => {
      await create('read');
      await check('GET', `${path('read')}?watch=true&timeoutSeconds=1`);
    });

    test('all namespaces', async () => {
      const start = await version();
      await create('anywhere', { metadata: { labels: { anywhere: namespace } } });
      const target = `/api/v1/configmaps?watch=true&resourceVersion=${start}&labelSelector=anywhere%3D${namespace}`;
      const open = await server.client().watch(target);

      same(await open.first(1));
      open.close();
    });

    test('a deletion held by a finalizer is a MODIFIED first', async () => {
      await create('held', { metadata: { finalizers: ['example.com/hold'] } });
      const open = await watch(`resourceVersion=${await version()}`);
      await request('DELETE', path('held'));
      await merge('held', { metadata: { finalizers: null } });

      same(await open.first(2));
    });

    test('a write that changes nothing is no event', async () => {
      await create('quiet', { data: { k: 'v' } });
      const open = await watch(`resourceVersion=${await version()}`);
      await request('PUT', path('quiet'), { body: configMap('quiet', { data: { k: 'v' } }) });
      await merge('quiet', { data: { k: 'v' } });
      await create('loud');

      expect(told(await open.first(1))).toEqual(['ADDED loud']);
    });

    test('timeoutSeconds ends it, in peace', async () => {
      const open = await watch(`resourceVersion=${await version()}&timeoutSeconds=1`);

      expect(await open.ended()).toEqual([]);
    });

    test.skipIf(!server.canForget)('[W3] a resourceVersion that is too old is a 410', async () => {
      await using forgetful = await server.forget();
      const { namespace: other, oldVersion, client } = forgetful;
      const target = `/api/v1/namespaces/${other}/configmaps?watch=true&resourceVersion=${oldVersion}`;
      const open = await client.watch(target);

      same({ code: open.code, lines: await open.ended() });
    });

    test('[W6] from a resourceVersion of the future: nothing comes, and no refusal', async () => {
      const future = `resourceVersion=${FUTURE}`;
      const silent = await watch(`${future}&allowWatchBookmarks=true&timeoutSeconds=4`);
      await create('before-the-future');

      same({ code: silent.code, lines: await silent.ended() });
      await request('DELETE', path('before-the-future'));
    });

    test('[W6] from one that is nearly reached: what comes after it', async () => {
      const future = Number(await version()) + 2;
      const open = await watch(`resourceVersion=${future}`);
      for (const name of ['near-a', 'near-b', 'near-c', 'near-d']) await create(name);

      const [first] = await open.first(1);
      expect(Number(first?.object.metadata.resourceVersion)).toBeGreaterThan(future);
      for (const name of ['near-a', 'near-b', 'near-c', 'near-d']) await request('DELETE', path(name));
    });

    test('[W6] the state as of a resourceVersion of the future is refused in the stream', async () => {
      const open = await watch(`${STREAM}&resourceVersion=${FUTURE}&timeoutSeconds=10`);

      same({ code: open.code, lines: await open.ended() });
    });

    test('a resourceVersion that is none', async () => {
      await check('GET', `${path()}?watch=true&resourceVersion=nonsense&timeoutSeconds=1`);
    });
  });
}
