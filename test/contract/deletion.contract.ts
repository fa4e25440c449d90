import { describe, expect, test } from 'vitest';
import { useRoom } from './room.ts';
import type { Server } from './server.ts';

const OTHER_UID = '11111111-1111-1111-1111-111111111111';
const MERGE = 'application/merge-patch+json';

export function deletionContract(server: Server): void {
  describe('delete', () => {
    const { check, create, path, request } = useRoom(server, 'deletion');

    test('what is deleted is gone, and the answer tells its uid', async () => {
      const { metadata } = await create('plain');
      const { json } = await check('DELETE', path('plain'));

      expect(json).toMatchObject({ details: { uid: metadata.uid } });
      await check('GET', path('plain'));
    });

    test('preconditions', async () => {
      const { metadata } = await create('guarded');
      const remove = (preconditions: object) => check('DELETE', path('guarded'), { body: { preconditions } });

      await remove({ uid: OTHER_UID });
      await remove({ resourceVersion: '1' });
      await remove({ uid: OTHER_UID, resourceVersion: '1' });
      await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    });

    test('options that make no sense', async () => {
      await create('kept');
      const remove = (body: object | string) => check('DELETE', path('kept'), { body });

      await remove({ propagationPolicy: 'Nonsense' });
      await remove({ propagationPolicy: 'Orphan', orphanDependents: true });
      await remove({ dryRun: ['Nonsense'] });
      await remove('{');
      await check('DELETE', `${path('kept')}?propagationPolicy=Nonsense`);
      await check('GET', path('kept'));
    });

    test.each(['Background', 'Foreground', 'Orphan'])(
      'the propagation policy %s',
      async (propagationPolicy) => {
        const name = `policy-${propagationPolicy.toLowerCase()}`;
        const finalizers = ['example.com/hold'];
        await create(name, { metadata: { finalizers } });

        // Held by a finalizer of ours, so that the server's own work on it can be seen whenever that is done.
        const { body } = await request('DELETE', path(name), { body: { propagationPolicy } });
        const own =
          propagationPolicy === 'Foreground'
            ? ['foregroundDeletion']
            : propagationPolicy === 'Orphan'
              ? ['orphan']
              : [];
        expect([...(body.metadata.finalizers ?? [])].sort()).toEqual([...finalizers, ...own].sort());
        expect(body.metadata.deletionTimestamp).toBeDefined();
        await request('PATCH', path(name), { body: { metadata: { finalizers: null } }, contentType: MERGE });
      },
    );

    test('a finalizer holds the object until it is taken off', async () => {
      await create('held', { metadata: { finalizers: ['example.com/hold'] } });
      const patch = (body: object) => check('PATCH', path('held'), { body, contentType: MERGE });

      await check('DELETE', path('held'));
      await check('DELETE', path('held'));
      await check('GET', path('held'));
      await patch({ metadata: { finalizers: ['example.com/hold', 'example.com/more'] } });
      await patch({ data: { still: 'writable' } });
      await patch({ metadata: { finalizers: null } });
      await check('GET', path('held'));
    });

    test('a collection, by selector', async () => {
      for (const name of ['c-a', 'c-b']) await create(name, { metadata: { labels: { collected: 'yes' } } });
      await create('c-c', { metadata: { labels: { collected: 'no' } } });

      await check('DELETE', `${path()}?labelSelector=collected%3Dyes`);
      await check('GET', `${path()}?labelSelector=collected`);
      await check('DELETE', `${path()}?labelSelector=collected%3Dyes`);
    });
  });
}
