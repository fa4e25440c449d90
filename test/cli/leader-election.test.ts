import { expect, test } from 'vitest';
import { runElected } from '../../src/cli/session/leader-election.ts';
import { aborted } from '../../src/clock/clock.ts';
import { Elector } from '../../src/leaderelection/elector.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { TIMES } from '../leaderelection/candidate.ts';
import { MemoryLeases } from '../leaderelection/memory-leases.ts';
import { ManualClock } from '../support/manual-clock.ts';

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
  expect([elector.mayWrite(), takeOvers]).toEqual([true, 1]);
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
      holders.push(leases.lease?.spec?.holderIdentity, elector.mayWrite());
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
