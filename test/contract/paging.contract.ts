import { beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { query, useRoom } from './room.ts';
import type { Server } from './server.ts';

export function pagingContract(server: Server): void {
  describe('paging', () => {
    const { check, create, path, request, same } = useRoom(server, 'paging');
    beforeAll(async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e'])
        await create(name, { metadata: { labels: { paged: 'yes' } } });
    });
    const page = (parameters: Readonly<Record<string, string>>) =>
      request('GET', `${path()}?${query(parameters)}`);
    const names = ({ body }: Awaited<ReturnType<typeof page>>) =>
      body.items.map(({ metadata }) => metadata.name);

    test('pages of two', async () => {
      const first = await check('GET', `${path()}?limit=2`);
      const second = await page({ limit: '2', continue: first.body.metadata.continue ?? '' });
      same(second.json);
      const third = await page({ limit: '2', continue: second.body.metadata.continue ?? '' });
      same(third.json);

      expect([first, second, third].map((reply) => reply.body.metadata.resourceVersion)).toEqual(
        new Array(3).fill(first.body.metadata.resourceVersion),
      );
    });

    test('all pages show the state of the first', async () => {
      const first = await page({ limit: '3' });
      await create('bb');
      await create('dd');
      await request('DELETE', path('e'));
      const rest = await page({ continue: first.body.metadata.continue ?? '' });

      expect([...names(first), ...names(rest)]).toEqual(['a', 'b', 'c', 'd', 'e']);
      await create('e', { metadata: { labels: { paged: 'yes' } } });
      for (const name of ['bb', 'dd']) await request('DELETE', path(name));
    });

    test('a selector hides how many remain', async () => {
      await check('GET', `${path()}?limit=2&labelSelector=paged`);
    });

    test('a limit that is just enough, or more than that', async () => {
      await check('GET', `${path()}?limit=5`);
      await check('GET', `${path()}?limit=500`);
      await check('GET', `${path()}?limit=0`);
    });

    test('a list at resourceVersion 0 comes whole, whatever the limit', async () => {
      const { body } = await page({ limit: '2', resourceVersion: '0' });
      same({ items: body.items.length, hasMore: body.metadata.continue !== undefined });
    });

    test.each(['', 'NotOlderThan', 'Exact'])(
      '[W6] a list at a resourceVersion of the future is refused ("%s")',
      async (match) => {
        const parameters = { limit: '1', resourceVersion: '99999999999' };
        const { code, json } = await page({ ...parameters, ...(match && { resourceVersionMatch: match }) });
        same({ code, body: json });
      },
    );

    test('a token says at which version, so that another must not be asked for', async () => {
      const { body } = await page({ limit: '2' });
      const token = body.metadata.continue ?? '';
      const wrong = await page({ continue: token, resourceVersion: '1' });
      same({ code: wrong.code, body: wrong.json });
      const zero = await page({ continue: token, resourceVersion: '0' });
      same({ code: zero.code, names: names(zero) });
      const matched = await page({ continue: token, resourceVersionMatch: 'Exact' });
      same({ code: matched.code, body: matched.json });
    });

    test.skipIf(!server.canCompact)(
      '[W3] a token that is too old is a 410 with another one, which goes on in the present',
      async () => {
        const first = await page({ limit: '2' });
        await create('late');
        await server.compact();
        const token = first.body.metadata.continue ?? '';
        // The apiserver looks every 15 s whether etcd was compacted, and serves its snapshot until then
        // (k8s.io/apiserver pkg/storage/cacher/compactor.go).
        const refused = await waitFor(
          async () => {
            const reply = await page({ limit: '2', continue: token });
            return reply.code === 410 ? reply : undefined;
          },
          { deadlineMs: 30_000 },
        );
        same(refused.json);

        const rest = await page({ continue: refused.body.metadata.continue ?? '' });
        same({ names: names(rest) });
        expect(Number(rest.body.metadata.resourceVersion)).toBeGreaterThan(
          Number(first.body.metadata.resourceVersion),
        );
        await request('DELETE', path('late'));
      },
    );
  });
}
