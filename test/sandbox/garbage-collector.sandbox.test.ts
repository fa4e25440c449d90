import { describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { CONFIGMAPS, useSandbox } from './client.ts';

const client = useSandbox();
const { request, create } = client;

describe('[B1] garbage collection', () => {
  test('chains of owners are deleted one after the other; a second owner keeps a dependent', async () => {
    const uidOf = async (name: string) => (await client.get(`${CONFIGMAPS}/${name}`)).metadata.uid;
    const owned = async (name: string, ...owners: readonly string[]) => {
      const ownerReferences = await Promise.all(
        owners.map(async (owner) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: owner,
          uid: await uidOf(owner),
        })),
      );
      await create(name, { metadata: { name, ownerReferences } });
    };
    await create('root');
    await create('other');
    await owned('child', 'root');
    await owned('grandchild', 'child');
    await owned('shared', 'root', 'other');
    await request(`${CONFIGMAPS}/root`, { method: 'DELETE' });
    const names = async () => (await client.get(CONFIGMAPS)).items?.map(({ metadata }) => metadata.name);
    await waitFor(async () => (await names())?.length === 2);
    expect(await names()).toEqual(['other', 'shared']);
    const { metadata } = await client.get(`${CONFIGMAPS}/shared`);
    expect(metadata.ownerReferences).toHaveLength(1);
  });

  test('an owner of another uid under the same name does not count', async () => {
    await create('reborn');
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'reborn', uid: 'former' }];
    await create('left', { metadata: { name: 'left', ownerReferences } });
    await waitFor(async () => (await request(`${CONFIGMAPS}/left`)).status === 404);
  });

  test('an owner of a custom kind counts as present', async () => {
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'u' }];
    await create('kept', { metadata: { name: 'kept', ownerReferences } });
    const gone = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u' }];
    await create('gone', { metadata: { name: 'gone', ownerReferences: gone } });
    await waitFor(async () => (await request(`${CONFIGMAPS}/gone`)).status === 404);
    expect((await request(`${CONFIGMAPS}/kept`)).status).toBe(200);
  });
});
