import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { MERGE, OTHER_UID, useRoom } from './room.ts';

export function deletionContract(server: TestServer): void {
  describe('delete', () => {
    const { create, path, request } = useRoom(server, 'deletion');

    test('a deleted object is gone, and the answer has its uid', async () => {
      const { metadata } = await create('plain');
      const { json } = await request('DELETE', path('plain'));

      expect(json).toMatchObject({ details: { uid: metadata.uid } });
      await request('GET', path('plain'));
    });

    test('a delete with another uid or resourceVersion is refused', async () => {
      const { metadata } = await create('guarded');
      const remove = (preconditions: object) =>
        request('DELETE', path('guarded'), { body: { preconditions } });

      await remove({ uid: OTHER_UID });
      await remove({ resourceVersion: '1' });
      await remove({ uid: OTHER_UID, resourceVersion: '1' });
      await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    });

    test('a delete with invalid options is refused', async () => {
      await create('kept');
      const remove = (body: object | string) => request('DELETE', path('kept'), { body });

      await remove({ propagationPolicy: 'Nonsense' });
      await remove({ propagationPolicy: 'Orphan', orphanDependents: true });
      await remove({ dryRun: ['Nonsense'] });
      await remove('{');
      await request('DELETE', `${path('kept')}?propagationPolicy=Nonsense`);
      await request('DELETE', `${path('kept')}?gracePeriodSeconds=x`);
      await request('DELETE', `${path()}?gracePeriodSeconds=x`);
      await request('GET', path('kept'));
    });

    test.each(['Background', 'Foreground', 'Orphan'])(
      'a delete accepts the propagation policy %s',
      async (propagationPolicy) => {
        const name = `policy-${propagationPolicy.toLowerCase()}`;
        const finalizers = ['example.com/hold'];
        await create(name, { metadata: { finalizers } });

        // A finalizer of ours holds the object, so that the answer shows those of the server.
        await request('DELETE', path(name), { body: { propagationPolicy } });
        await request('PATCH', path(name), { body: { metadata: { finalizers: null } }, contentType: MERGE });
      },
    );

    test('a finalizer holds the object until it is removed', async () => {
      await create('held', { metadata: { finalizers: ['example.com/hold'] } });
      const patch = (body: object) => request('PATCH', path('held'), { body, contentType: MERGE });

      await request('DELETE', path('held'));
      await request('DELETE', path('held'));
      await request('GET', path('held'));
      await patch({ metadata: { finalizers: ['example.com/hold', 'example.com/more'] } });
      await patch({ data: { still: 'writable' } });
      await patch({ metadata: { finalizers: null } });
      await request('GET', path('held'));
    });

    test('a selector chooses what is deleted of a collection', async () => {
      for (const name of ['c-a', 'c-b']) await create(name, { metadata: { labels: { collected: 'yes' } } });
      await create('c-c', { metadata: { labels: { collected: 'no' } } });

      await request('DELETE', `${path()}?labelSelector=collected%3Dyes`);
      await request('GET', `${path()}?labelSelector=collected`);
      await request('DELETE', `${path()}?labelSelector=collected%3Dyes`);
    });
  });
}
