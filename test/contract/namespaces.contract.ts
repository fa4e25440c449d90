import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { configMap, MERGE, useRoom } from './room.ts';

/** Emptying and removing a namespace takes a real server some seconds when it is busy. */
const DEADLINE = { deadlineMs: 30_000 };

export function namespacesContract(server: TestServer): void {
  describe('namespaces', () => {
    const room = useRoom(server, 'namespaces');
    const { request, until, watch } = room;
    /** A name that is the recording's `<namespace>` with something behind it. */
    const nameOf = (suffix: string) => `${room.namespace}-${suffix}`;
    const at = (name: string, rest = '') => `/api/v1/namespaces/${name}${rest}`;
    const createNamespace = (name: string, metadata: object = {}) =>
      request('POST', '/api/v1/namespaces', { body: { metadata: { name, ...metadata } } });
    const gone = (path: string) => until(path, ({ code }) => code === 404);

    test('the server gives a namespace a label with its name, a finalizer and a phase', async () => {
      await createNamespace(nameOf('new'), { labels: { env: 'dev' } });
      await request('GET', at(nameOf('new')));
      await createNamespace(nameOf('new'));
      const labels = { 'kubernetes.io/metadata.name': null, env: 'qa' };
      await request('PATCH', at(nameOf('new')), { body: { metadata: { labels } }, contentType: MERGE });
      await request('PATCH', at(nameOf('new')), { body: { spec: { finalizers: [] } }, contentType: MERGE });
      await request('DELETE', at(nameOf('new')));
    });

    test.each(['Upper', 'with.dot', 'x'.repeat(64), '-a', ''])('the name "%s" is refused', async (name) => {
      await createNamespace(name);
    });

    test('field selectors choose namespaces', async () => {
      await request('GET', `/api/v1/namespaces?fieldSelector=metadata.name%3D${room.namespace}`);
      await request(
        'GET',
        `/api/v1/namespaces?fieldSelector=metadata.name%3D${room.namespace},status.phase%3DActive`,
      );
      await request(
        'GET',
        `/api/v1/namespaces?fieldSelector=status.phase%3DTerminating,metadata.name%3D${room.namespace}`,
      );
      await request('GET', '/api/v1/namespaces?fieldSelector=spec.x%3Dy');
    });

    test('the namespaces of the system cannot be deleted', async () => {
      for (const name of ['default', 'kube-system', 'kube-public']) await request('DELETE', at(name));
    });

    test('collections of namespaces cannot be deleted', async () => {
      await request('DELETE', '/api/v1/namespaces?labelSelector=no%3Dsuch');
    });

    test.skipIf(!server.collectsGarbage)('a deleted namespace takes its objects along', async () => {
      const name = nameOf('full');
      await createNamespace(name);
      const { code } = await request('POST', at(name, '/configmaps'), { body: configMap('inside') });
      expect(code).toBe(201);

      await request('DELETE', at(name));
      await gone(at(name));
      await request('GET', at(name, '/configmaps/inside'));
      await request('DELETE', at(name));
    });

    test.skipIf(!server.collectsGarbage)(
      '[R10] in a terminating namespace nothing can be created, and all else works',
      async () => {
        const name = nameOf('held');
        await createNamespace(name);
        const held = configMap('held', { metadata: { finalizers: ['example.com/hold'] } });
        expect((await request('POST', at(name, '/configmaps'), { body: held })).code).toBe(201);
        await request('DELETE', at(name));
        await request('POST', at(name, '/configmaps'), { body: configMap('late') });
        await until(at(name, '/configmaps/held'), ({ body }) => body.metadata.deletionTimestamp);
        const patch = { body: { data: { still: 'writable' } }, contentType: MERGE };
        await request('PATCH', at(name, '/configmaps/held'), patch);
        const labels = { body: { metadata: { labels: { still: 'writable' } } }, contentType: MERGE };
        // The answer has the conditions that the server has set so far.
        await request('PATCH', at(name), labels, () => 'not compared');
        await request('DELETE', at(name, '/configmaps/absent'));

        await request('PATCH', at(name, '/configmaps/held'), {
          body: { metadata: { finalizers: null } },
          contentType: MERGE,
        });
        await gone(at(name));
      },
    );

    test.skipIf(!server.collectsGarbage)(
      'a watch shows that a namespace terminates and is deleted',
      async () => {
        const name = nameOf('watched');
        const { body } = await request('POST', '/api/v1/namespaces', { body: { metadata: { name } } });
        const query = `watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=${body.metadata.resourceVersion}`;
        const open = await watch(`/api/v1/namespaces?${query}`);
        await request('DELETE', at(name));
        await open.first(1);
        await waitFor(() => open.lines.some(({ type }) => type === 'DELETED'), DEADLINE);

        const phases = open.lines.map(
          ({ type, object }) => `${type} ${(object as { status?: { phase?: string } }).status?.phase}`,
        );
        expect(phases.at(0)).toBe('MODIFIED Terminating');
        expect(phases.at(-1)).toBe('DELETED Terminating');
      },
    );
  });
}
