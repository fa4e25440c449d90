import { expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { Replicas } from './replicas.ts';

/** No test waits for such a Lease to expire, nor for its candidate's timer: the watch wakes it. */
const LONG = ['600s', '400s', '300s'] as const;
const SHORT = ['3s', '2s', '200ms'] as const;

/** Several processes, of which one writes. `program`: of `useBundle`. */
export function handoverSuite(server: TestServer, program: () => string): void {
  test('[L3] [Q3] SIGTERM to one of three: another takes the Lease over long before it would expire', async () => {
    await using replicas = await Replicas.open(program(), server, LONG);
    const [leader, ...standbys] = await replicas.startAll(3);
    await replicas.expectMirroring();
    leader.signal('TERM');
    expect(await leader.ended()).toBe(0);
    const next = await replicas.leaderOf(standbys);
    await replicas.expectMirroring();
    expect(leader.log.slice(-2).map(({ msg }) => msg)).toEqual(['released the Lease', 'stopped']);
    expect(standbys.filter(({ isLeader }) => isLeader)).toEqual([next]);
    expect((await replicas.lease())?.spec).toMatchObject({ leaseDurationSeconds: 600, leaseTransitions: 1 });
  });

  test('[L3] SIGTERM to a standby changes nothing', async () => {
    await using replicas = await Replicas.open(program(), server, LONG);
    const [leader, standby] = await replicas.startAll(2);
    standby.signal('TERM');
    expect(await standby.ended()).toBe(0);
    await replicas.expectMirroring();
    expect(leader.isLeader).toBe(true);
    expect((await replicas.lease())?.spec?.leaseTransitions).toBe(0);
  });

  test('[L3] SIGKILL: the other takes over when the Lease has expired', async () => {
    await using replicas = await Replicas.open(program(), server, SHORT);
    const [leader, standby] = await replicas.startAll(2);
    await replicas.expectMirroring();
    leader.signal('KILL');
    await standby.logged('became leader');
    await replicas.expectMirroring();
    // Edits while nobody led are caught up on.
    standby.signal('KILL');
    await standby.ended();
    await replicas.world.person.patch(replicas.world.full('home/colors'), { data: { sky: 'dark' } });
    const third = replicas.start();
    await replicas.world.companion('home/colors-synced', 'home/colors');
    expect(third.isLeader).toBe(true);
  });

  test('[L3] a Lease that somebody deletes or gives to another: one of the two leads again', async () => {
    await using replicas = await Replicas.open(program(), server, SHORT);
    const both = await replicas.startAll(2);
    const { person } = replicas.world;
    await person.remove(replicas.leasePath);
    await waitFor(async () => (await replicas.lease())?.spec?.holderIdentity);
    await replicas.expectMirroring();
    await replicas.leaderOf(both);

    // A renewal in between is a conflict.
    await waitFor(async () => {
      const lease = await replicas.lease();
      const spec = { ...lease?.spec, holderIdentity: 'nobody' };
      return person.put<object>(replicas.leasePath, { ...lease, spec });
    });
    await waitFor(() => both.every(({ isLeader }) => !isLeader), { deadlineMs: 20_000 });
    await replicas.leaderOf(both);
    await replicas.expectMirroring();
  });
}
