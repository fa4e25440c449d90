import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { World } from '../controller/world.ts';
import { AuditLog } from '../support/control-plane-audit.ts';
import { startOwnControlPlane } from '../support/control-plane-suite.ts';
import { freePorts } from '../support/free-ports.ts';
import { serverOn } from '../support/servers/control-plane-server.ts';
import { writesWithoutLease } from './lease-history.ts';
import { Replicas, useBundle } from './replicas.ts';

const program = useBundle();
/** The defaults of the flags. */
const TIMES = ['15s', '10s', '2s'] as const;
const MINUTE_MS = 60_000;

// Among the tests of `npm run test:deploy`, because it takes two minutes.
test('[L2] [L3] [O2] after a minute without etcd one of two replicas leads again, and neither was to be restarted', async () => {
  await using controlPlane = await startOwnControlPlane();
  const audit = await AuditLog.open(controlPlane.auditLogPath);
  const world = await World.open(serverOn(controlPlane));
  await world.createSource();
  const flags = ['--freshness-canary=10s'];
  await using replicas = new Replicas({ program: program(), world, times: TIMES, flags });
  const ports = await freePorts(2);
  const both = ports.map((httpPort) => replicas.start({ httpPort }));
  for (const replica of both) await replica.logged('caches synced');
  await replicas.leaderOf(both);
  await replicas.expectMirroring();

  const unlive: string[] = [];
  const look = async () => {
    for (const port of ports) {
      const answer = await fetch(`http://127.0.0.1:${port}/livez`);
      if (!answer.ok) unlive.push(await answer.text());
    }
  };
  controlPlane.pauseEtcd();
  for (const end = performance.now() + MINUTE_MS; performance.now() < end; await delay(1_000)) await look();
  expect(both.map(({ isLeader }) => isLeader)).toEqual([false, false]);
  controlPlane.resumeEtcd();

  const leader = await replicas.leaderOf(both);
  await replicas.expectMirroring();
  await look();
  expect(unlive).toEqual([]);
  expect(both.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  expect(both.filter(({ isRunning }) => isRunning)).toHaveLength(2);
  // So the other one campaigns again, too.
  leader.signal('TERM');
  expect(await leader.ended()).toBe(0);
  await replicas.leaderOf(both.filter((replica) => replica !== leader));
  await replicas.expectMirroring();
  expect(writesWithoutLease(await audit.calls(), world.full(''))).toEqual([]);
}, 400_000);
