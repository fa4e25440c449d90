import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import type { Lease } from '../../src/kube/api/types.ts';
import { World } from '../controller/world.ts';
import { scopeOf } from '../inspect/ask.ts';
import type { Replica } from '../leaderelection/replica.ts';
import { Replicas, useBundle } from '../leaderelection/replicas.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { freePorts } from '../support/free-ports.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';

const program = useBundle();
const WRITES = { method: ['POST', 'PATCH', 'DELETE'], path: /\/configmaps/ };

/** A process that leads, and has a write in flight that is never answered. */
async function startHanging() {
  const world = await World.open(sandboxServer);
  const proxy = await startFaultProxy({ upstream: world.place.access });
  const replicas = new Replicas({ program: program(), world, proxy, times: ['600s', '400s', '100ms'] });
  const [httpPort = 0] = await freePorts(1);
  const replica = replicas.start({ httpPort });
  await replica.logged('became leader');
  await replica.logged('caches synced');
  const hanging = proxy.inject({ match: WRITES, fault: { kind: 'no-answer' } });
  await world.createSource();
  await waitFor(() => hanging.hits() === 1, { deadlineMs: 20_000, describe: () => replica.logTail() });
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${httpPort}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  return {
    world,
    replicas,
    replica,
    get,
    /** Writes that were sent so far. */
    writes: () => hanging.hits(),
    /** Asks it to stop; resolves when it says that it does. */
    askToStop: async (asked: Replica) => {
      asked.signal('TERM');
      await waitFor(async () => (await get('/readyz')).body.includes('stopping'));
    },
    [Symbol.asyncDispose]: async () => {
      await replicas[Symbol.asyncDispose]();
      await proxy.stop();
    },
  };
}

test('[Q3] [O2] SIGTERM: not ready at once, nothing new begins, and after 10 s the process ends with 0', async () => {
  await using scene = await startHanging();
  const { world, replicas, replica, get, writes, askToStop } = scene;
  const begunAt = performance.now();
  await askToStop(replica);
  expect(await get('/readyz')).toEqual({
    status: 500,
    body: '[+]synced ok\n[-]shutdown failed: the process is stopping\nreadyz check failed\n',
  });
  expect(await get('/livez')).toEqual({ status: 200, body: 'ok' });
  await world.createSource({ name: 'sizes' });
  // It holds the Lease as long as a write of it may be under way.
  expect((await replicas.lease())?.spec?.holderIdentity).not.toBe('');
  expect(await replica.ended()).toBe(0);
  expect(performance.now() - begunAt).toBeLessThan(20_000);
  expect(writes()).toBe(1);
  expect(replica.log.slice(-3).map(({ msg }) => msg)).toEqual([
    'stopped before everything in flight had ended',
    'released the Lease',
    'stopped',
  ]);
  expect((await replicas.lease())?.spec?.holderIdentity).toBe('');
});

test('[Q3] a second SIGTERM ends the process at once', async () => {
  await using scene = await startHanging();
  const { replicas, replica, askToStop } = scene;
  await askToStop(replica);
  const askedAgainAt = performance.now();
  replica.signal('TERM');
  expect(await replica.ended()).toBe(130);
  // The drain goes on for most of its 10 s.
  expect(performance.now() - askedAgainAt).toBeLessThan(5_000);
  expect((await replicas.lease())?.spec?.holderIdentity).not.toBe('');
});

test('[L3] the reader of the log goes away: it goes on, and a stop releases the Lease', async () => {
  await using world = await World.open(sandboxServer);
  const namespace = world.full('home');
  const election = ['--leader-elect', `--leader-elect-lease-namespace=${namespace}`];
  const flags = [...scopeOf(world), '--http-address=', '--log-format=json', ...election];
  const child = spawn(process.execPath, [program(), 'run', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += String(chunk);
  });
  await waitFor(() => log.includes('caches synced'), { deadlineMs: 20_000, describe: () => log });
  child.stderr.destroy();
  // It logs each companion, to nobody.
  for (const name of ['colors', 'sizes']) {
    await world.createSource({ name });
    await world.companion(`home/${name}-synced`, `home/${name}`);
  }
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/mirror-controller`;
  expect((await world.person.get<Lease>(path))?.spec?.holderIdentity).toBe('');
});
