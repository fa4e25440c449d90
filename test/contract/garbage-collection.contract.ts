import { describe, expect, test } from 'vitest';
import type { ApiBody } from '../support/api-client.ts';
import type { TestServer } from '../support/servers/server.ts';
import { MERGE, useRoom } from './room.ts';

const ABSENT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: 'never-was',
  uid: '11111111-1111-1111-1111-111111111111',
};

const ownedBy = (...owners: readonly object[]) => ({ metadata: { ownerReferences: owners } });
const reference = ({ metadata }: ApiBody, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: metadata.name,
  uid: metadata.uid,
  ...fields,
});

export function garbageCollectionContract(server: TestServer): void {
  describe.skipIf(!server.collectsGarbage)('garbage collection', () => {
    const { create, path, request, until } = useRoom(server, 'garbage-collection');
    const gone = (name: string) => until(path(name), ({ code }) => code === 404);
    const isThere = async (name: string) => expect((await request('GET', path(name))).code).toBe(200);
    /** What the collector does wrongly, it has done when this resolves. */
    const collectorHasPassed = async (after: string) => {
      await create(`mark-${after}`, ownedBy({ ...ABSENT, name: `mark-${after}` }));
      await gone(`mark-${after}`);
    };

    test('[R3] a deleted owner takes along what it owns, directly or not', async () => {
      const owner = await create('owner');
      const owned = await create('owned', ownedBy(reference(owner, { controller: true })));
      await create('owned-by-owned', ownedBy(reference(owned)));

      await request('DELETE', path('owner'), { body: { propagationPolicy: 'Background' } });
      await gone('owned');
      await gone('owned-by-owned');
    });

    test('an object whose owner is absent is deleted', async () => {
      await create('orphan', ownedBy(ABSENT));
      await gone('orphan');
    });

    test('[R11] an object of the same name with another uid is not the owner', async () => {
      const before = await create('again');
      await request('DELETE', path('again'), { body: { propagationPolicy: 'Orphan' } });
      await gone('again');
      await create('again');
      await create('of-before', ownedBy(reference(before)));

      await gone('of-before');
      await isThere('again');
    });

    test('an owner in another namespace counts as absent', async () => {
      const { body } = await request('GET', '/api/v1/namespaces/default');
      const inAnother = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: body.metadata.name,
        uid: body.metadata.uid,
      };
      await create('across', ownedBy(inAnother));
      await gone('across');
    });

    test('Orphan keeps what was owned, and removes the owner reference', async () => {
      const owner = await create('leaver');
      await create('left', ownedBy(reference(owner)));

      await request('DELETE', path('leaver'), { body: { propagationPolicy: 'Orphan' } });
      await gone('leaver');
      await isThere('left');
    });

    test('Foreground keeps the owner until those that block its deletion are gone', async () => {
      const owner = await create('waiting');
      const blocking = {
        ...ownedBy(reference(owner, { blockOwnerDeletion: true })).metadata,
        finalizers: ['example.com/hold'],
      };
      await create('blocking', { metadata: blocking });

      await request('DELETE', path('waiting'), { body: { propagationPolicy: 'Foreground' } });
      await until(path('blocking'), ({ body }) => body.metadata.deletionTimestamp);
      await collectorHasPassed('foreground');
      await isThere('waiting');
      await request('PATCH', path('blocking'), {
        body: { metadata: { finalizers: null } },
        contentType: MERGE,
      });
      await gone('blocking');
      await gone('waiting');
    });

    test('an object with two owners loses the reference to the deleted one, and stays', async () => {
      const [first, second] = [await create('first'), await create('second')];
      await create('shared', ownedBy(reference(first), reference(second)));

      await request('DELETE', path('first'), { body: { propagationPolicy: 'Background' } });
      await until(path('shared'), ({ text }) => !text.includes(first.metadata.uid));
      await request('DELETE', path('second'));
      await gone('shared');
    });

    test('an object stays while its owner does', async () => {
      const owner = await create('staying');
      await create('stays', ownedBy(reference(owner)));

      await collectorHasPassed('staying');
      await isThere('stays');
    });
  });
}
