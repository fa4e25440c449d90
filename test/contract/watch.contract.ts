import { describe, expect, test } from 'vitest';
import type { WatchLine } from '../support/api-client.ts';
import type { TestServer } from '../support/servers/server.ts';
import { configMap, MERGE, useRoom } from './room.ts';

const STREAM = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

/** No server gets so far. */
const FUTURE = 99_999_999_999;

const eventsOf = (lines: readonly WatchLine[]) =>
  lines.map(({ type, object }) => `${type} ${object.metadata.name}`);

export function watchContract(server: TestServer): void {
  describe('watch', () => {
    const { create, namespace, path, request, watch } = useRoom(server, 'watch');
    const watchFrom = (parameters: string) => watch(`${path()}?watch=true&${parameters}`);
    const merge = (name: string, body: object) => request('PATCH', path(name), { body, contentType: MERGE });
    const version = async () =>
      (await request('GET', `${path()}?labelSelector=no%3Dsuch`)).body.metadata.resourceVersion;

    test('a watch from a resourceVersion shows what happened since, in order, then what happens', async () => {
      const start = await version();
      await create('since', { data: { k: 'v' } });
      await merge('since', { data: { k: 'w' } });
      await request('DELETE', path('since'));
      const open = await watchFrom(`resourceVersion=${start}`);
      await open.first(3);
      await create('then');

      const lines = await open.first(4);
      const versions = lines.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(versions).toEqual([...versions].sort((a, b) => a - b));
      // A deletion is a version of its own, not the last one of the object.
      expect(new Set(versions).size).toBe(4);
      await request('DELETE', path('then'));
    });

    test.each(['', 'resourceVersion=0'])(
      'a watch from no resourceVersion ("%s") shows the existing objects first, as added',
      async (from) => {
        await create('there', { metadata: { labels: { from: 'nowhere' } } });
        const open = await watchFrom(`${from}&labelSelector=from%3Dnowhere`);
        await open.first(1);
        await merge('there', { data: { k: 'v' } });

        await open.first(2);
        await request('DELETE', path('there'));
      },
    );

    test('[W2] sendInitialEvents shows the existing objects, a bookmark that ends them, then what happens', async () => {
      const labels = { stream: 'yes' };
      await create('s-a', { metadata: { labels } });
      await create('s-b', { metadata: { labels } });
      const open = await watchFrom(`${STREAM}&labelSelector=stream%3Dyes`);
      await open.first(3);
      await create('s-c', { metadata: { labels } });

      const lines = await open.first(4);
      const [, newest, bookmark, next] = lines.map(({ object }) => Number(object.metadata.resourceVersion));
      expect(bookmark).toBeGreaterThanOrEqual(newest ?? 0);
      expect(next).toBeGreaterThan(bookmark ?? 0);
    });

    test('[W2] sendInitialEvents of nothing shows only the bookmark', async () => {
      await (await watchFrom(`${STREAM}&labelSelector=no%3Dsuch`)).first(1);
    });

    test('sendInitialEvents without bookmarks does not show where the existing objects end', async () => {
      await create('unmarked', { metadata: { labels: { unmarked: 'yes' } } });
      const parameters = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
      const open = await watchFrom(`${parameters}&labelSelector=unmarked`);

      expect(eventsOf(await open.ended())).toEqual(['ADDED unmarked']);
    });

    test('sendInitialEvents with contradicting parameters is refused', async () => {
      const target = `${path()}?watch=true&timeoutSeconds=1`;
      await request('GET', `${target}&sendInitialEvents=true`);
      await request(
        'GET',
        `${target}&sendInitialEvents=true&resourceVersionMatch=Exact&allowWatchBookmarks=true`,
      );
      await request('GET', `${target}&resourceVersionMatch=NotOlderThan&resourceVersion=1`);
    });

    test('a watch that starts with the existing objects takes no continue token', async () => {
      const target = `${path()}?watch=true&timeoutSeconds=1&continue=nonsense`;
      await request('GET', target);
      await request('GET', `${target}&resourceVersion=0`);
      await request('GET', `${target}&resourceVersion=${await version()}`);
      await request('GET', `${target}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`);
    });

    test('an object that starts to match is ADDED, and one that stops is DELETED', async () => {
      await create('moving');
      const open = await watchFrom(`resourceVersion=${await version()}&labelSelector=in%3Dyes`);
      await merge('moving', { metadata: { labels: { in: 'yes' } } });
      await merge('moving', { data: { k: 'v' } });
      await merge('moving', { metadata: { labels: { in: 'no' } }, data: { k: 'w' } });
      await merge('moving', { data: { k: 'unseen' } });
      await merge('moving', { metadata: { labels: { in: 'yes' } } });
      await request('DELETE', path('moving'));

      const lines = await open.first(5);
      expect(eventsOf(lines)).toEqual([
        'ADDED moving',
        'MODIFIED moving',
        'DELETED moving',
        'ADDED moving',
        'DELETED moving',
      ]);
    });

    test('a field selector can choose one object', async () => {
      await create('only');
      await create('other');
      const open = await watchFrom(`resourceVersion=${await version()}&fieldSelector=metadata.name%3Donly`);
      await merge('other', { data: { k: 'v' } });
      await merge('only', { data: { k: 'v' } });
      await request('DELETE', path('only'));

      expect(eventsOf(await open.first(2))).toEqual(['MODIFIED only', 'DELETED only']);
    });

    test('the path of one object is read, not watched', async () => {
      await create('read');
      await request('GET', `${path('read')}?watch=true&timeoutSeconds=1`);
    });

    test('a watch can cover all namespaces', async () => {
      const start = await version();
      await create('anywhere', { metadata: { labels: { anywhere: namespace } } });
      const target = `/api/v1/configmaps?watch=true&resourceVersion=${start}&labelSelector=anywhere%3D${namespace}`;
      const open = await watch(target);

      await open.first(1);
    });

    test('a deletion that a finalizer holds is MODIFIED first', async () => {
      await create('held', { metadata: { finalizers: ['example.com/hold'] } });
      const open = await watchFrom(`resourceVersion=${await version()}`);
      await request('DELETE', path('held'));
      await merge('held', { metadata: { finalizers: null } });

      await open.first(2);
    });

    test('a write that changes nothing makes no event', async () => {
      await create('quiet', { data: { k: 'v' } });
      const open = await watchFrom(`resourceVersion=${await version()}`);
      await request('PUT', path('quiet'), { body: configMap('quiet', { data: { k: 'v' } }) });
      await merge('quiet', { data: { k: 'v' } });
      await create('loud');

      expect(eventsOf(await open.first(1))).toEqual(['ADDED loud']);
    });

    test('timeoutSeconds ends a watch without an error', async () => {
      const open = await watchFrom(`resourceVersion=${await version()}&timeoutSeconds=1`);

      expect(await open.ended()).toEqual([]);
    });

    test('[W6] a watch from a resourceVersion of the future is accepted, and shows nothing', async () => {
      const future = `resourceVersion=${FUTURE}`;
      const silent = await watchFrom(`${future}&allowWatchBookmarks=true&timeoutSeconds=4`);
      await create('before-the-future');

      await silent.ended();
      await request('DELETE', path('before-the-future'));
    });

    // Other writes to the real server may come between, so the names are ones that are not
    // compared.
    test('[W6] a watch from a resourceVersion that is nearly reached shows what follows it', async () => {
      const future = Number(await version()) + 2;
      const open = await watchFrom(`resourceVersion=${future}`);
      for (const name of ['gen-near1', 'gen-near2', 'gen-near3', 'gen-near4']) await create(name);

      const [first] = await open.first(1);
      expect(Number(first?.object.metadata.resourceVersion)).toBeGreaterThan(future);
      for (const name of ['gen-near1', 'gen-near2', 'gen-near3', 'gen-near4'])
        await request('DELETE', path(name));
    });

    test('[W6] sendInitialEvents at a resourceVersion of the future is refused in the stream', async () => {
      const open = await watchFrom(`${STREAM}&resourceVersion=${FUTURE}&timeoutSeconds=10`);

      await open.ended();
    });

    test('an invalid resourceVersion is refused', async () => {
      await request('GET', `${path()}?watch=true&resourceVersion=nonsense&timeoutSeconds=1`);
    });
  });
}
