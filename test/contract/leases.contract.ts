import { describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { MERGE, useRoom } from './room.ts';

const MICRO = '2026-01-02T03:04:05.678901Z';

const lease = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
  spec,
});
const held = {
  holderIdentity: 'one',
  leaseDurationSeconds: 15,
  acquireTime: MICRO,
  renewTime: MICRO,
  leaseTransitions: 0,
};

export function leasesContract(server: TestServer): void {
  describe('leases', () => {
    const { namespace, path, request, watch } = useRoom(server, 'leases');
    const leases = (name?: string) => path(name, 'leases');

    test('a lease keeps its times to the microsecond', async () => {
      const { json } = await request('POST', leases(), { body: lease('kept', held) });

      expect(json).toMatchObject({ spec: held });
      await request('GET', leases('kept'));
    });

    test.each([
      '2026-01-02T03:04:05Z',
      '2026-01-02T03:04:05.1Z',
      '2026-01-02T03:04:05.123456789Z',
      '2026-01-02T04:04:05.678901+01:00',
      'yesterday',
      '',
      7,
      null,
    ])('renewTime %j is stored or refused', async (renewTime) => {
      const name = `time-${String(renewTime).toLowerCase().replaceAll(/\W+/g, '-')}x`;
      await request('POST', leases(), { body: lease(name, { renewTime }) });
    });

    test('only the client with the newest version takes a lease over', async () => {
      const { body } = await request('POST', leases(), { body: lease('raced', held) });
      const { resourceVersion } = body.metadata;
      const take = (holderIdentity: string) =>
        request('PUT', leases('raced'), {
          body: lease('raced', { ...held, holderIdentity }, { resourceVersion }),
        });

      await take('two');
      await take('three');
      await request('GET', leases('raced'));
    });

    test('a lease can be released: no holder, one second', async () => {
      await request('POST', leases(), { body: lease('released', held) });
      await request('PATCH', leases('released'), {
        body: { spec: { holderIdentity: '', leaseDurationSeconds: 1 } },
        contentType: MERGE,
      });
      await request('PATCH', leases('released'), {
        body: { spec: { holderIdentity: null } },
        contentType: MERGE,
      });
    });

    test.each([
      ['a duration of 0', { leaseDurationSeconds: 0 }],
      ['a negative duration', { leaseDurationSeconds: -1 }],
      ['a negative count of transitions', { leaseTransitions: -1 }],
      ['a duration that is text', { leaseDurationSeconds: '15' }],
      ['a duration that is a fraction', { leaseDurationSeconds: 1.5 }],
      ['a strategy without a preferred holder', { strategy: 'Nonsense' }],
      ['a preferred holder without a strategy', { preferredHolder: 'x' }],
    ])('%s is accepted or refused', async (what, spec) => {
      await request('POST', leases(), { body: lease(what.replaceAll(/\W+/g, '-'), spec) });
    });

    test('an empty spec is accepted', async () => {
      await request('POST', leases(), { body: lease('empty', {}) });
    });

    test('a watch shows a release', async () => {
      const { body } = await request('POST', leases(), { body: lease('watched', held) });
      const query = `watch=true&fieldSelector=metadata.name%3Dwatched&resourceVersion=${body.metadata.resourceVersion}`;
      const open = await watch(`${leases()}?${query}`);
      await request('PATCH', leases('watched'), {
        body: { spec: { holderIdentity: '' } },
        contentType: MERGE,
      });

      await open.first(1);
    });

    test('leases have lists, paths and refusals of their own', async () => {
      await request('GET', leases('absent'));
      await request('GET', `${leases()}?fieldSelector=metadata.name%3Dkept`);
      await request('POST', leases(), { body: lease('kept', held) });
      await request('DELETE', leases('kept'));
      await request('GET', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/nosuch`);
    });
  });
}
