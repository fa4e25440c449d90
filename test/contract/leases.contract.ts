import { describe, expect, test } from 'vitest';
import { useRoom } from './room.ts';
import type { Server } from './server.ts';

const MICRO = '2026-01-02T03:04:05.678901Z';
const MERGE = 'application/merge-patch+json';

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

export function leasesContract(server: Server): void {
  describe('leases', () => {
    const { check, namespace, path, request, same } = useRoom(server, 'leases');
    const leases = (name?: string) => path(name, 'leases');

    test('a lease keeps its times to the microsecond', async () => {
      const { json } = await request('POST', leases(), { body: lease('kept', held) });

      expect(json).toMatchObject({ spec: held });
      await check('GET', leases('kept'));
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
    ])('the time %j', async (renewTime) => {
      const name = `time-${String(renewTime).toLowerCase().replaceAll(/\W+/g, '-')}x`;
      const { code, json } = await request('POST', leases(), { body: lease(name, { renewTime }) });
      const { spec, message } = json as {
        readonly spec?: { readonly renewTime?: string };
        readonly message?: string;
      };
      same({ code, message, time: `<${spec?.renewTime}>`.replaceAll('Z', ' Z') });
    });

    test('only who has the newest version takes it over', async () => {
      const { body } = await request('POST', leases(), { body: lease('raced', held) });
      const { resourceVersion } = body.metadata;
      const take = (holderIdentity: string) =>
        check('PUT', leases('raced'), {
          body: lease('raced', { ...held, holderIdentity }, { resourceVersion }),
        });

      await take('two');
      await take('three');
      await check('GET', leases('raced'));
    });

    test('released: no holder, one second', async () => {
      await request('POST', leases(), { body: lease('released', held) });
      await check('PATCH', leases('released'), {
        body: { spec: { holderIdentity: '', leaseDurationSeconds: 1 } },
        contentType: MERGE,
      });
      await check('PATCH', leases('released'), {
        body: { spec: { holderIdentity: null } },
        contentType: MERGE,
      });
    });

    test.each([
      ['a duration of 0', { leaseDurationSeconds: 0 }],
      ['a negative duration', { leaseDurationSeconds: -1 }],
      ['negative transitions', { leaseTransitions: -1 }],
      ['a duration that is text', { leaseDurationSeconds: '15' }],
      ['a duration that is no whole number', { leaseDurationSeconds: 1.5 }],
      ['a strategy without a preferred holder', { strategy: 'Nonsense' }],
      ['a preferred holder without a strategy', { preferredHolder: 'x' }],
    ])('%s', async (what, spec) => {
      await check('POST', leases(), { body: lease(what.replaceAll(/\W+/g, '-'), spec) });
    });

    test('an empty spec will do', async () => {
      await check('POST', leases(), { body: lease('empty', {}) });
    });

    test('a watch tells of a release', async () => {
      const { body } = await request('POST', leases(), { body: lease('watched', held) });
      const query = `watch=true&fieldSelector=metadata.name%3Dwatched&resourceVersion=${body.metadata.resourceVersion}`;
      const open = await server.client().watch(`${leases()}?${query}`);
      await request('PATCH', leases('watched'), {
        body: { spec: { holderIdentity: '' } },
        contentType: MERGE,
      });

      same(await open.first(1));
      open.close();
    });

    test('what belongs to leases: paths, lists, refusals', async () => {
      await check('GET', leases('absent'));
      await check('GET', `${leases()}?fieldSelector=metadata.name%3Dkept`);
      await check('POST', leases(), { body: lease('kept', held) });
      await check('DELETE', leases('kept'));
      await check('GET', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/nosuch`);
    });
  });
}
