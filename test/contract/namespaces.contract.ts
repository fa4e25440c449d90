import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

const MERGE = 'application/merge-patch+json';
/** Emptying and removing a namespace takes a real server some seconds when it is busy. */
const DEADLINE = { deadlineMs: 30_000 };

export function namespacesContract(server: Server): void {
  describe('namespaces', () => {
    const room = useRoom(server, 'namespaces');
    const { check, request } = room;
    /** A name that is the recording's `<namespace>` with something behind it. */
    const nameOf = (suffix: string) => `${room.namespace}-${suffix}`;
    const at = (name: string, rest = '') => `/api/v1/namespaces/${name}${rest}`;
    const createNamespace = (name: string, metadata: object = {}) =>
      check('POST', '/api/v1/namespaces', { body: { metadata: { name, ...metadata } } });
    const isGone = async (path: string) => (await request('GET', path)).code === 404;

    test('a namespace gets a label with its name, a finalizer and a phase', async () => {
      await createNamespace(nameOf('new'), { labels: { env: 'dev' } });
      await check('GET', at(nameOf('new')));
      await createNamespace(nameOf('new'));
      const labels = { 'kubernetes.io/metadata.name': null, env: 'qa' };
      await check('PATCH', at(nameOf('new')), { body: { metadata: { labels } }, contentType: MERGE });
      await check('PATCH', at(nameOf('new')), { body: { spec: { finalizers: [] } }, contentType: MERGE });
      await request('DELETE', at(nameOf('new')));
    });

    test.each(['Upper', 'with.dot', 'x'.repeat(64), '-a', ''])('the name "%s" is refused', async (name) => {
      await createNamespace(name);
    });

    test('namespaces by field', async () => {
      await check('GET', `/api/v1/namespaces?fieldSelector=metadata.name%3D${room.namespace}`);
      await check(
        'GET',
        `/api/v1/namespaces?fieldSelector=metadata.name%3D${room.namespace},status.phase%3DActive`,
      );
      await check(
        'GET',
        `/api/v1/namespaces?fieldSelector=status.phase%3DTerminating,metadata.name%3D${room.namespace}`,
      );
      await check('GET', '/api/v1/namespaces?fieldSelector=spec.x%3Dy');
    });

    test('the namespaces of the system stay', async () => {
      for (const name of ['default', 'kube-system', 'kube-public']) await check('DELETE', at(name));
    });

    test('collections of namespaces cannot be deleted', async () => {
      await check('DELETE', '/api/v1/namespaces?labelSelector=no%3Dsuch');
    });

    test.skipIf(!server.collectsGarbage)('a deleted namespace takes along what is in it', async () => {
      const name = nameOf('full');
      await createNamespace(name);
      const { code } = await request('POST', at(name, '/configmaps'), { body: configMap('inside') });
      expect(code).toBe(201);

      await check('DELETE', at(name));
      await waitFor(() => isGone(at(name)), DEADLINE);
      expect(await isGone(at(name, '/configmaps/inside'))).toBe(true);
      await check('DELETE', at(name));
    });

    test.skipIf(!server.collectsGarbage)(
      '[R10] a terminating namespace: nothing can be created, the rest goes on',
      async () => {
        const name = nameOf('held');
        await createNamespace(name);
        const held = configMap('held', { metadata: { finalizers: ['example.com/hold'] } });
        expect((await request('POST', at(name, '/configmaps'), { body: held })).code).toBe(201);
        await check('DELETE', at(name));
        const phase = async () => (await request('GET', at(name))).json as { status?: { phase?: string } };

        expect((await phase()).status?.phase).toBe('Terminating');
        await check('POST', at(name, '/configmaps'), { body: configMap('late') });
        await waitFor(async () => {
          const { body } = await request('GET', at(name, '/configmaps/held'));
          return body.metadata.deletionTimestamp;
        }, DEADLINE);
        const patch = { body: { data: { still: 'writable' } }, contentType: MERGE };
        await check('PATCH', at(name, '/configmaps/held'), patch);
        const labels = { body: { metadata: { labels: { still: 'writable' } } }, contentType: MERGE };
        expect((await request('PATCH', at(name), labels)).code).toBe(200);
        await check('DELETE', at(name, '/configmaps/absent'));

        await request('PATCH', at(name, '/configmaps/held'), {
          body: { metadata: { finalizers: null } },
          contentType: MERGE,
        });
        await waitFor(() => isGone(at(name)), DEADLINE);
      },
    );

    test.skipIf(!server.collectsGarbage)('a watch sees a namespace terminate and go', async () => {
      const name = nameOf(randomBytes(2).toString('hex'));
      const { body } = await request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
      const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=${body.metadata.resourceVersion}`;
      const open = await server.client().watch(`/api/v1/namespaces?${query}`);
      await request('DELETE', at(name));
      await waitFor(() => open.lines.some(({ type }) => type === 'DELETED'), DEADLINE);

      const phases = open.lines.map(
        ({ type, object }) => `${type} ${(object as { status?: { phase?: string } }).status?.phase}`,
      );
      expect(phases.at(0)).toBe('MODIFIED Terminating');
      expect(phases.at(-1)).toBe('DELETED Terminating');
      open.close();
    });
  });
}
