import { describe, expect, test } from 'vitest';
import { AuditLog } from '../support/control-plane-audit.ts';
import { lacks, sharedCluster, startOwnControlPlane } from '../support/control-plane-suite.ts';
import { controlPlaneServer, serverOn } from '../support/servers/control-plane-server.ts';
import { WRITE_VERBS } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { handoverSuite } from './handover.suite.ts';
import type { Replica } from './replica.ts';
import { Replicas, useBundle } from './replicas.ts';

const program = useBundle();

describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  handoverSuite(controlPlaneServer, program);
});

describe.skipIf(lacks.sharedControlPlane())('in the audit log of a real control plane', () => {
  /** Opened at the moment from which on writes count. */
  const openAudit = () => AuditLog.open(sharedCluster().controlPlane?.auditLogPath ?? '');
  const writesOf = async (audit: AuditLog, replica: Replica, namespace: string) =>
    (await audit.calls()).filter(
      ({ verb, objectRef, impersonatedUser }) =>
        WRITE_VERBS.includes(verb) &&
        objectRef?.resource === 'configmaps' &&
        objectRef.namespace === namespace &&
        impersonatedUser?.username === replica.name,
    );

  test('[L2] a holder that was stopped for longer than its Lease writes nothing when it goes on', async () => {
    await using replicas = await Replicas.open(program(), controlPlaneServer, ['2s', '1s', '100ms']);
    const { world } = replicas;
    const [leader, standby] = await replicas.startAll(2);
    const audit = await openAudit();
    await replicas.expectMirroring();
    expect(await writesOf(audit, leader, world.full('home'))).not.toEqual([]);
    leader.signal('STOP');
    await standby.logged('became leader');
    await replicas.expectMirroring();

    const afterwards = await openAudit();
    leader.signal('CONT');
    // In its sockets wait the events of what the other wrote; now come edits to heal.
    for (let edit = 0; edit < 20; edit++) {
      await world.person.patch(world.full('home/colors-synced'), { data: { sky: `by hand ${edit}` } });
      await replicas.expectMirroring();
    }
    await leader.logged('lost the Lease');
    await replicas.expectMirroring();
    expect(await writesOf(afterwards, leader, world.full('home'))).toEqual([]);
    expect(standby.isLeader).toBe(true);

    // It is a warm standby now.
    standby.signal('TERM');
    await leader.logged('became leader', 2);
    await replicas.expectMirroring();
  });

  test('[L1] a standby writes nothing, whatever it sees', async () => {
    await using replicas = await Replicas.open(program(), controlPlaneServer, ['600s', '400s', '100ms']);
    const { world } = replicas;
    const audit = await openAudit();
    const [, standby] = await replicas.startAll(2);
    for (let edit = 0; edit < 10; edit++) {
      await world.person.patch(world.full('home/colors-synced'), { data: { sky: `by hand ${edit}` } });
      await replicas.expectMirroring();
    }
    expect(await writesOf(audit, standby, world.full('home'))).toEqual([]);
    expect(standby.log.filter(({ msg }) => msg.startsWith('companion'))).toEqual([]);
  });
});

describe.skipIf(lacks.ownControlPlane())('when a real control plane fails', () => {
  test('[L3] [L4] an API server that hangs, and one that is killed: one of the two leads afterwards', async () => {
    await using controlPlane = await startOwnControlPlane();
    await using replicas = await Replicas.open(program(), serverOn(controlPlane), ['3s', '2s', '200ms']);
    const both = await replicas.startAll(2);
    await replicas.expectMirroring();

    controlPlane.pauseApiServer();
    await waitFor(() => both.every(({ isLeader }) => !isLeader), { deadlineMs: 30_000 });
    controlPlane.resumeApiServer();
    await replicas.leaderOf(both);
    await replicas.expectMirroring();

    await controlPlane.killApiServer();
    await waitFor(() => both.every(({ isLeader }) => !isLeader), { deadlineMs: 30_000 });
    await controlPlane.restartApiServer();
    await replicas.leaderOf(both);
    await replicas.expectMirroring();
    expect(both.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  });
});
