import { describe, expect, test } from 'vitest';
import type { OwnPlace, TestServer } from '../support/servers/server.ts';
import { query, useRoom } from './room.ts';

export function historyContract(server: TestServer): void {
  describe.skipIf(!server.canOpenOwn)('forgotten history', () => {
    let place: OwnPlace;
    const { create, path, request, watch } = useRoom(server, 'history', async () => {
      place = await server.openOwn();
      return place;
    });

    test('[W3] a watch from a resourceVersion that is too old gets a 410', async () => {
      const { metadata } = await create('early');
      await request('DELETE', path('early'));
      await place.forgetHistory();

      const open = await watch(`${path()}?watch=true&resourceVersion=${metadata.resourceVersion}`);
      await open.ended();
    });

    test('[W3] a list with a limit at a resourceVersion that is too old gets a 410', async () => {
      const { metadata } = await create('listed');
      await request('DELETE', path('listed'));
      await place.forgetHistory();

      await request('GET', `${path()}?${query({ limit: '1', resourceVersion: metadata.resourceVersion })}`);
    });

    test('[W3] a continue token that is too old gets a 410 with another one, which goes on in the present', async () => {
      const page = (token: string | undefined) =>
        request('GET', `${path()}?${query({ limit: '2', ...(token && { continue: token }) })}`);
      for (const name of ['a', 'b', 'c']) await create(name);
      const first = await page(undefined);
      await create('late');
      await place.forgetHistory();

      const refused = await page(first.body.metadata.continue);
      const rest = await page(refused.body.metadata.continue);
      expect(Number(rest.body.metadata.resourceVersion)).toBeGreaterThan(
        Number(first.body.metadata.resourceVersion),
      );
    });
  });
}
