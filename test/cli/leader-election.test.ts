import { expect, test } from 'vitest';
import { flagValues } from '../../src/cli/flags/flag-values.ts';
import { RUN_FLAGS } from '../../src/cli/flags/run-flags.ts';
import { openElection, runElected } from '../../src/cli/session/leader-election.ts';
import { aborted } from '../../src/clock/clock.ts';
import { Elector } from '../../src/leaderelection/elector.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { sendJson, startServer } from '../kube/loopback-server.ts';
import { TIMES } from '../leaderelection/candidate.ts';
import { MemoryLeases } from '../leaderelection/memory-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { waitFor } from '../support/wait-for.ts';

function setUp() {
  const clock = new ManualClock();
  const leases = new MemoryLeases(clock);
  const common = { ...TIMES, clock, random: () => 0, log: new RecordedLog() };
  const elector = new Elector({ leases: leases.api(), identity: 'one', ...common });
  return { clock, leases, elector };
}

test('[L3] a controller that fails gives up the Lease, and its error ends the program', async () => {
  const { clock, leases, elector } = setUp();
  const fault = new Error('a worker has died');
  const died = new AbortController();
  let takeOvers = 0;
  const controller = {
    run: async () => {
      await aborted(died.signal);
      throw fault;
    },
    takeOver: async () => {
      takeOvers += 1;
    },
  };
  const ended = runElected(controller, elector, new AbortController().signal).catch((error) => error);
  await clock.advance(5_000);
  expect([elector.leadership.mayWrite(), takeOvers]).toEqual([true, 1]);
  died.abort();
  await clock.advance(10);
  expect(await ended).toBe(fault);
  expect(leases.lease?.spec?.holderIdentity).toBe('');
});

test('[L3] [Q3] the Lease is renewed while writes in flight end, and released afterwards', async () => {
  const { clock, leases, elector } = setUp();
  const holders: unknown[] = [];
  const controller = {
    run: async (signal: AbortSignal) => {
      await aborted(signal);
      // The drain.
      await new Promise<void>((resolve) => clock.setTimer(20_000, resolve));
      holders.push(leases.lease?.spec?.holderIdentity, elector.leadership.mayWrite());
    },
    takeOver: async () => undefined,
  };
  const stop = new AbortController();
  const ended = runElected(controller, elector, stop.signal);
  await clock.advance(5_000);
  stop.abort();
  await clock.advance(20_010);
  await ended;
  expect(holders).toEqual(['one', true]);
  expect(leases.holders).toEqual(['one', '']);
});

test('[L4] a long Retry-After does not end leadership', async () => {
  let refusals = 0;
  const server = await startServer(({ method, url, body }, response) => {
    // The watch, which only hangs.
    if (url.searchParams.has('watch')) return;
    if (method === 'GET') return sendJson(response, 404, { kind: 'Status', reason: 'NotFound' });
    if (method === 'PUT' && refusals === 0) {
      refusals += 1;
      return sendJson(response, 429, { kind: 'Status' }, { 'retry-after': '30' });
    }
    const lease = JSON.parse(body);
    sendJson(response, 200, { ...lease, metadata: { ...lease.metadata, uid: 'u', resourceVersion: '1' } });
  });
  const set = { 'leader-elect': true, 'leader-elect-lease-namespace': 'home' };
  const flags = flagValues(RUN_FLAGS, set, {});
  const clock = new ManualClock();
  const log = new RecordedLog();
  await using election = openElection({ server: server.url }, flags, log, clock);
  const stop = new AbortController();
  const ended = election?.run(stop.signal, () => undefined);
  await waitFor(() => election?.fence.mayWrite());
  await clock.advance(flags['leader-elect-retry-period']);
  await waitFor(() => log.told.some(({ message }) => message.includes('cannot be read or written')));
  await clock.advance(flags['leader-elect-retry-period']);
  await waitFor(() => log.told.some(({ message }) => message === 'resolved'));
  expect(election?.fence.mayWrite()).toBe(true);
  stop.abort();
  await ended;
});
