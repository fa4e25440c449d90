import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { MERGE, OTHER_UID, useRoom } from './room.ts';

const JSON_PATCH = 'application/json-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

export function patchContract(server: TestServer): void {
  describe('patch', () => {
    const { create, path, request } = useRoom(server, 'patch');
    const patching = (contentType: string) => (name: string, body: unknown) =>
      request('PATCH', path(name), { body, contentType });
    const [jsonPatch, merge, strategic] = [JSON_PATCH, MERGE, STRATEGIC].map(patching) as [
      ReturnType<typeof patching>,
      ReturnType<typeof patching>,
      ReturnType<typeof patching>,
    ];
    const content = {
      data: { a: '1', b: '2', c: '3' },
      metadata: { labels: { ours: 'x', theirs: 'y' }, annotations: { 'example.com/note': 'n' } },
    };

    test('a JSON patch carries out all operations', async () => {
      await create('ops', content);
      await jsonPatch('ops', [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'replace', path: '/data/a', value: '9' },
        { op: 'remove', path: '/data/b' },
        { op: 'add', path: '/data/new', value: 'n' },
        { op: 'copy', from: '/data/a', path: '/data/copied' },
        { op: 'move', from: '/data/c', path: '/data/moved' },
        { op: 'replace', path: '/metadata/annotations/example.com~1note', value: 'm' },
      ]);
      await jsonPatch('ops', [{ op: 'add', path: '/data', value: { only: 'this' } }]);
      await jsonPatch('ops', [{ op: 'add', path: '/metadata/annotations', value: { a: 'b' } }]);
      await jsonPatch('ops', [{ op: 'remove', path: '/data' }]);
      await jsonPatch('ops', []);
    });

    test.each([
      ['a test that fails', [{ op: 'test', path: '/data/a', value: 'other' }]],
      ['a test of an absent field', [{ op: 'test', path: '/data/zzz', value: 'x' }]],
      ['a removal of an absent field', [{ op: 'remove', path: '/data/zzz' }]],
      ['a replacement of an absent field', [{ op: 'replace', path: '/data/zzz', value: 'x' }]],
      ['an addition to an absent parent', [{ op: 'add', path: '/binaryData/x', value: 'eA==' }]],
      ['an operation that does not exist', [{ op: 'frobnicate', path: '/data/a' }]],
      ['an operation without a path', [{ op: 'remove' }]],
      ['an object in place of the list', { op: 'remove', path: '/data/a' }],
      ['invalid JSON', '['],
      ['a value of the wrong type', [{ op: 'replace', path: '/data/a', value: 1 }]],
      ['another uid', [{ op: 'replace', path: '/metadata/uid', value: OTHER_UID }]],
      ['another name', [{ op: 'replace', path: '/metadata/name', value: 'other' }]],
      ['another namespace', [{ op: 'replace', path: '/metadata/namespace', value: 'other' }]],
      ['a stale resourceVersion', [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }]],
      ['an invalid resourceVersion', [{ op: 'replace', path: '/metadata/resourceVersion', value: 'x' }]],
    ])('a JSON patch with %s', async (what, operations) => {
      const name = `bad-${what.replaceAll(/\W+/g, '-').toLowerCase()}`;
      await create(name, content);
      await jsonPatch(name, operations);
    });

    test('a JSON patch heals content and marks in one request, guarded by the resourceVersion', async () => {
      const { metadata } = await create('healed', content);
      const operations = [
        { op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
        { op: 'add', path: '/data', value: { a: '1' } },
        { op: 'add', path: '/metadata/labels/ours', value: 'z' },
      ];

      const { body } = await jsonPatch('healed', operations);
      expect(body.metadata.labels).toEqual({ ours: 'z', theirs: 'y' });
      await jsonPatch('healed', operations);
    });

    test('a merge patch removes what is null, and merges the rest', async () => {
      await create('merged', content);
      await merge('merged', { data: { a: null, b: '9', new: 'n' }, metadata: { labels: { ours: null } } });
      await merge('merged', { metadata: { finalizers: ['example.com/a'], annotations: { k: 'v' } } });
      await merge('merged', { metadata: { finalizers: ['example.com/b'] } });
      await merge('merged', { metadata: { finalizers: null, annotations: null }, data: null });
      await merge('merged', {});
    });

    test.each([
      ['a stale resourceVersion', { metadata: { resourceVersion: '1' } }],
      ['another uid', { metadata: { uid: OTHER_UID } }],
      ['another name', { metadata: { name: 'other' } }],
      ['a value of the wrong type', { data: { a: 1 } }],
      ['an unknown field', { datas: { a: 'x' } }],
      ['invalid JSON', '{'],
      ['a list in place of the object', []],
      ['text in place of the object', '"x"'],
    ])('a merge patch with %s', async (what, body) => {
      const name = `merge-${what.replaceAll(/\W+/g, '-').toLowerCase()}`;
      await create(name, content);
      await merge(name, body);
    });

    test('a strategic merge patch merges maps, lists with a key, and sets', async () => {
      // Owners that exist, or the garbage collector takes the object away.
      const uids = new Map<string, string>();
      for (const name of ['one', 'two', 'three', 'four']) uids.set(name, (await create(name)).metadata.uid);
      const reference = (name: string) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid: uids.get(name),
      });
      const ownerReferences = [reference('one'), reference('two')];
      const finalizers = ['example.com/a', 'example.com/b'];
      const metadata = { ...content.metadata, ownerReferences, finalizers };
      await create('strategic', { ...content, metadata });

      await strategic('strategic', { data: { a: null, new: 'n' } });
      await strategic('strategic', {
        metadata: { ownerReferences: [{ ...reference('one'), controller: true }] },
      });
      await strategic('strategic', { metadata: { ownerReferences: [reference('three')] } });
      await strategic('strategic', {
        metadata: { ownerReferences: [{ $patch: 'delete', uid: uids.get('two') }] },
      });
      await strategic('strategic', {
        metadata: { ownerReferences: [{ $patch: 'replace' }, reference('four')] },
      });
      await strategic('strategic', { metadata: { finalizers: ['example.com/c'] } });
      await strategic('strategic', {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
      });
      await strategic('strategic', {
        metadata: {
          '$setElementOrder/finalizers': ['example.com/c', 'example.com/d', 'example.com/b'],
          finalizers: ['example.com/d'],
        },
      });
      await strategic('strategic', { data: { $patch: 'replace', only: 'this' } });
      await strategic('strategic', { data: { $patch: 'delete' } });
      await strategic('strategic', { data: { $retainKeys: ['x'], x: 'y' } });
      await merge('strategic', { metadata: { finalizers: null } });
    });

    test.each([
      ['a stale resourceVersion', { metadata: { resourceVersion: '1' } }],
      ['an unknown directive', { data: { $patch: 'frobnicate' } }],
      ['a deletion that names no list', { metadata: { $deleteFromPrimitiveList: ['x'] } }],
      ['an order that names no list', { metadata: { $setElementOrder: ['x'] } }],
      ['an item without its key', { metadata: { ownerReferences: [{ name: 'x' }] } }],
      ['invalid JSON', '{'],
      ['a value of the wrong type', { data: { a: 1 } }],
    ])('a strategic merge patch with %s', async (what, body) => {
      const name = `strategic-${what.replaceAll(/\W+/g, '-').toLowerCase()}`;
      await create(name, content);
      await strategic(name, body);
    });

    test('an absent object cannot be patched', async () => {
      await jsonPatch('absent', []);
      await merge('absent', {});
      await strategic('absent', {});
    });

    test('a patch that changes nothing keeps the resourceVersion', async () => {
      const { metadata } = await create('same', content);
      for (const send of [merge, strategic]) {
        const { body } = await send('same', { data: { a: '1' } });
        expect(body.metadata.resourceVersion).toBe(metadata.resourceVersion);
      }
    });
  });
}
