import { describe, expect, test } from 'vitest';
import { AuditLog } from '../support/control-plane-audit.ts';
import { lacks, sharedCluster, startOwnControlPlane } from '../support/control-plane-suite.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { controlPlaneServer, serverOn } from '../support/servers/control-plane-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { writers, writesWithoutLease } from './lease-history.ts';
import { Replicas, useBundle } from './replicas.ts';

const HOUR_MS = 3_600_000;
const LEASES = /\/leases/;

const program = useBundle();

describe.skipIf(lacks.sharedControlPlane())('on a real control plane', () => {
  const openAudit = () => AuditLog.open(sharedCluster().controlPlane?.auditLogPath ?? '');

  test.each([
    { clock: 'an hour ahead', skewMs: HOUR_MS },
    { clock: 'an hour behind', skewMs: -HOUR_MS },
  ])(
    '[L1] [L3] a standby whose clock is $clock waits for the Lease to expire, and no longer',
    async ({ skewMs }) => {
      const audit = await openAudit();
      await using replicas = await Replicas.open(program(), controlPlaneServer, ['8s', '6s', '100ms']);
      const leader = replicas.start();
      await leader.logged('became leader');
      const standby = replicas.start({ skewMs });
      await standby.logged('caches synced');
      for (let edit = 0; edit < 10; edit++) await replicas.expectMirroring();
      const prefix = replicas.world.full('');
      expect(writers(await audit.calls(), prefix)).toEqual(['replica-1']);
      const loggedAt = Date.parse(String(standby.log[0]?.['time']));
      expect(Math.abs(loggedAt - Date.now() - skewMs)).toBeLessThan(HOUR_MS / 2);

      leader.signal('KILL');
      await standby.logged('became leader');
      await replicas.expectMirroring();
      // The new holder's clock is the one in the Lease now.
      const third = replicas.start();
      await third.logged('caches synced');
      for (let edit = 0; edit < 10; edit++) await replicas.expectMirroring();
      standby.signal('TERM');
      await third.logged('became leader');
      await replicas.expectMirroring();
      expect(writesWithoutLease(await audit.calls(), prefix)).toEqual([]);
    },
  );

  test('[L4] slow replies on the Lease, and one that never comes, do not end leadership', async () => {
    const audit = await openAudit();
    await using place = await controlPlaneServer.open();
    await using proxy = await startFaultProxy({ upstream: place.access });
    await using replicas = await Replicas.open(program(), controlPlaneServer, ['9s', '6s', '200ms'], proxy);
    const [leader] = await replicas.startAll(2);
    const slow = proxy.inject({ match: { path: LEASES }, fault: { kind: 'delay', ms: 1_000 } });
    // More than two renew deadlines.
    const renewals = () => proxy.requests.filter(({ method, status }) => method === 'PUT' && status === 200);
    const before = renewals().length;
    await waitFor(() => renewals().length > before + 12, { deadlineMs: 60_000 });
    await replicas.expectMirroring();
    slow.remove();
    const lost = proxy.inject({
      match: { method: 'PUT', path: LEASES },
      fault: { kind: 'no-answer' },
      times: 1,
    });
    await waitFor(() => lost.hits() === 1);
    const since = renewals().length;
    await waitFor(() => renewals().length > since + 5, { deadlineMs: 60_000 });
    await replicas.expectMirroring();

    expect(leader.count('lost the Lease')).toBe(0);
    expect((await replicas.lease())?.spec?.leaseTransitions).toBe(0);
    expect(writers(await audit.calls(), replicas.world.full(''))).toEqual([leader.name]);
  });
});

describe.skipIf(lacks.ownControlPlane())('when etcd fails', () => {
  test('[L2] [L3] etcd that hangs: nobody leads, and then one does again', async () => {
    await using controlPlane = await startOwnControlPlane();
    const audit = await AuditLog.open(controlPlane.auditLogPath);
    await using replicas = await Replicas.open(program(), serverOn(controlPlane), ['3s', '2s', '200ms']);
    const both = await replicas.startAll(2);
    await replicas.expectMirroring();
    for (let time = 0; time < 3; time++) {
      controlPlane.pauseEtcd();
      await waitFor(() => both.every(({ isLeader }) => !isLeader), { deadlineMs: 30_000 });
      controlPlane.resumeEtcd();
      await replicas.leaderOf(both);
      await replicas.expectMirroring();
    }
    expect(both.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    expect(writesWithoutLease(await audit.calls(), replicas.world.full(''))).toEqual([]);
  });
});
