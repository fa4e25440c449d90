import { beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { query, useRoom } from './room.ts';

export function pagingContract(server: TestServer): void {
  describe('paging', () => {
    const { create, path, request } = useRoom(server, 'paging');
    beforeAll(async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e'])
        await create(name, { metadata: { labels: { paged: 'yes' } } });
    });
    const page = (parameters: Readonly<Record<string, string>>) =>
      request('GET', `${path()}?${query(parameters)}`);
    const names = ({ body }: Awaited<ReturnType<typeof page>>) =>
      body.items.map(({ metadata }) => metadata.name);

    test('a limit of two makes pages of two', async () => {
      const first = await request('GET', `${path()}?limit=2`);
      const second = await page({ limit: '2', continue: first.body.metadata.continue ?? '' });
      const third = await page({ limit: '2', continue: second.body.metadata.continue ?? '' });

      expect([first, second, third].map((reply) => reply.body.metadata.resourceVersion)).toEqual(
        new Array(3).fill(first.body.metadata.resourceVersion),
      );
    });

    test('all pages show the state at the first', async () => {
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
      await request('GET', `${path()}?limit=2&labelSelector=paged`);
    });

    test('a limit that is large enough makes no pages', async () => {
      await request('GET', `${path()}?limit=5`);
      await request('GET', `${path()}?limit=500`);
      await request('GET', `${path()}?limit=0`);
    });

    test('a list at resourceVersion 0 ignores the limit', async () => {
      await page({ limit: '2', resourceVersion: '0' });
    });

    test('a list with a limit shows the state at its resourceVersion, one without it the present state', async () => {
      const { metadata } = await create('f');
      await request('DELETE', path('f'));
      const parameters = { resourceVersion: metadata.resourceVersion };
      const limited = await page({ ...parameters, limit: '5' });
      const rest = await page({ limit: '5', continue: limited.body.metadata.continue ?? '' });
      const unlimited = await page(parameters);

      expect([names(limited), names(rest), names(unlimited)]).toEqual([
        ['a', 'b', 'c', 'd', 'e'],
        ['f'],
        ['a', 'b', 'c', 'd', 'e'],
      ]);
      expect(limited.body.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await page({ ...parameters, limit: '5', resourceVersionMatch: 'NotOlderThan' });
    });

    test('[W6] a list at a resourceVersion of the future is refused', async () => {
      const parameters = { limit: '1', resourceVersion: '99999999999' };
      const matches = ['', 'NotOlderThan', 'Exact'];
      // Each is refused after 3 s.
      await Promise.all(
        matches.map((match) => page({ ...parameters, ...(match && { resourceVersionMatch: match }) })),
      );
    });

    test('a continue token accepts no other resourceVersion', async () => {
      const { body } = await page({ limit: '2' });
      const token = body.metadata.continue ?? '';
      await page({ continue: token, resourceVersion: '1' });
      await page({ continue: token, resourceVersion: '0' });
      await page({ continue: token, resourceVersionMatch: 'Exact' });
    });
  });
}
