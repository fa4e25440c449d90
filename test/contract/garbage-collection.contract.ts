import { describe, expect, test } from 'vitest';
import type { ApiBody } from '../support/api-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { useRoom } from './room.ts';
import type { Server } from './server.ts';

const MERGE = 'application/merge-patch+json';
const DEADLINE = { deadlineMs: 30_000 };
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

export function garbageCollectionContract(server: Server): void {
  describe.skipIf(!server.collectsGarbage)('garbage collection', () => {
    const { create, path, request } = useRoom(server, 'garbage-collection');
    const isGone = async (name: string) => (await request('GET', path(name))).code === 404;
    const goes = (name: string) => waitFor(() => isGone(name), DEADLINE);
    const ownersOf = async (name: string) => {
      const { json } = await request('GET', path(name));
      return (
        json as { metadata: { ownerReferences?: readonly { name: string }[] } }
      ).metadata.ownerReferences?.map((owner) => owner.name);
    };
    /** Whatever the collector does wrongly it has done once it has collected this. */
    const collectorHasPassed = async (after: string) => {
      await create(`mark-${after}`, ownedBy({ ...ABSENT, name: `mark-${after}` }));
      await goes(`mark-${after}`);
    };

    test('[R3] what is owned goes with its owner, and what that owns as well', async () => {
      const owner = await create('owner');
      const owned = await create('owned', ownedBy(reference(owner, { controller: true })));
      await create('owned-by-owned', ownedBy(reference(owned)));

      await request('DELETE', path('owner'), { body: { propagationPolicy: 'Background' } });
      await goes('owned');
      await goes('owned-by-owned');
    });

    test('what names an absent owner goes', async () => {
      await create('orphan', ownedBy(ABSENT));
      await goes('orphan');
    });

    test('[R11] an owner that came again with another uid is not the owner', async () => {
      const before = await create('again');
      await request('DELETE', path('again'), { body: { propagationPolicy: 'Orphan' } });
      await goes('again');
      await create('again');
      await create('of-before', ownedBy(reference(before)));

      await goes('of-before');
      expect(await isGone('again')).toBe(false);
    });

    test('an owner is looked for in the namespace of what it owns', async () => {
      const { body } = await request('GET', '/api/v1/namespaces/default');
      const inAnother = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: body.metadata.name,
        uid: body.metadata.uid,
      };
      await create('across', ownedBy(inAnother));
      await goes('across');
    });

    test('Orphan: what was owned stays, without its owner', async () => {
      const owner = await create('leaver');
      await create('left', ownedBy(reference(owner)));

      await request('DELETE', path('leaver'), { body: { propagationPolicy: 'Orphan' } });
      await goes('leaver');
      expect(await ownersOf('left')).toBeUndefined();
    });

    test('Foreground: the owner waits for those that block its deletion', async () => {
      const owner = await create('waiting');
      const blocking = {
        ...ownedBy(reference(owner, { blockOwnerDeletion: true })).metadata,
        finalizers: ['example.com/hold'],
      };
      await create('blocking', { metadata: blocking });

      await request('DELETE', path('waiting'), { body: { propagationPolicy: 'Foreground' } });
      await waitFor(
        async () => (await request('GET', path('blocking'))).body.metadata.deletionTimestamp,
        DEADLINE,
      );
      await collectorHasPassed('foreground');
      expect(await isGone('waiting')).toBe(false);
      await request('PATCH', path('blocking'), {
        body: { metadata: { finalizers: null } },
        contentType: MERGE,
      });
      await goes('blocking');
      await goes('waiting');
    });

    test('of two owners, the one that goes is taken off, and the other keeps it', async () => {
      const [first, second] = [await create('first'), await create('second')];
      await create('shared', ownedBy(reference(first), reference(second)));

      await request('DELETE', path('first'), { body: { propagationPolicy: 'Background' } });
      await waitFor(async () => (await ownersOf('shared'))?.length === 1, DEADLINE);
      expect(await ownersOf('shared')).toEqual(['second']);
      await request('DELETE', path('second'));
      await goes('shared');
    });

    test('what has an owner stays for as long as the owner does', async () => {
      const owner = await create('staying');
      await create('stays', ownedBy(reference(owner)));

      await collectorHasPassed('staying');
      expect(await isGone('stays')).toBe(false);
    });
  });
}
