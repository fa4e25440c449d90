import { describe, expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { Candidate, type CandidateOptions, SkewedClock, TIMES } from './candidate.ts';
import { type Journey, MemoryLeases } from './memory-leases.ts';

const HOUR = 3_600_000;
const LOST = 'lost the Lease; nothing is written until it is held again';

function setUp() {
  const clock = new ManualClock();
  const leases = new MemoryLeases(clock);
  const candidate = (identity: string, options?: CandidateOptions) =>
    new Candidate(identity, leases, clock, options);
  return { clock, leases, candidate };
}

/** A server that answers nothing. */
const silent = (): Journey => ({ lost: 'request' });

describe('acquiring', () => {
  test('[L1] the first candidate creates the Lease, and the second waits while it is renewed', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    const two = candidate('two');
    await clock.advance(60_000);
    expect([one.isLeader, two.isLeader]).toEqual([true, false]);
    expect(leases.lease?.spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    });
    expect(one.messages()).toEqual(['became leader']);
    expect(two.log.told).toEqual([
      { level: 'info', message: 'waiting for leadership', lease: 'home/election', holder: 'one' },
    ]);
  });

  test('[L1] of two candidates that find the Lease expired, one gets it', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({ holderIdentity: 'crashed', leaseDurationSeconds: 15, leaseTransitions: 4 });
    const [one, two] = [candidate('one'), candidate('two')];
    // Both read before either writes.
    one.journey = () => ({ outMs: 50, backMs: 50 });
    two.journey = () => ({ outMs: 60, backMs: 60 });
    await clock.advance(60_000);
    expect([one.isLeader, two.isLeader]).toEqual([true, false]);
    expect(leases.holders).toEqual(['crashed', 'one']);
    expect(leases.lease?.spec?.leaseTransitions).toBe(5);
    expect(two.log.told.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('[L1] a Lease that somebody gave the highest possible count of transitions can be taken', async () => {
    const { clock, leases, candidate } = setUp();
    const most = 2 ** 31 - 1;
    leases.edit({ holderIdentity: 'crashed', leaseDurationSeconds: 15, leaseTransitions: most });
    const one = candidate('one');
    await clock.advance(60_000);
    expect(one.isLeader).toBe(true);
    expect(leases.lease?.spec?.leaseTransitions).toBe(most);
  });

  test('[L1] the Lease of a holder in another hour expires neither earlier nor later', async () => {
    for (const skew of [-HOUR, HOUR]) {
      const { clock, candidate } = setUp();
      const one = candidate('one', { clock: new SkewedClock(clock, 123_456, skew) });
      await clock.advance(10);
      const two = candidate('two', { clock: new SkewedClock(clock, -99) });
      await clock.advance(60_000);
      expect([one.isLeader, two.isLeader]).toEqual([true, false]);
      one.journey = silent;
      await clock.advance(TIMES.leaseDurationMs - TIMES.retryPeriodMs - 100);
      expect(two.isLeader).toBe(false);
      await clock.advance(2 * TIMES.retryPeriodMs);
      expect(two.isLeader).toBe(true);
    }
  });

  test('[L1] the duration in the Lease counts, not the own one', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({ holderIdentity: 'slow', leaseDurationSeconds: 40 });
    const one = candidate('one');
    await clock.advance(39_990);
    expect(one.isLeader).toBe(false);
    await clock.advance(20);
    expect(one.isLeader).toBe(true);

    // As some clients release it: they stay in it for one more second.
    const brief = setUp();
    brief.leases.edit({ holderIdentity: 'left', leaseDurationSeconds: 1 });
    const other = brief.candidate('one');
    await brief.clock.advance(1_010);
    expect(other.isLeader).toBe(true);
  });

  test('[L3] after a crash the Lease is taken within lease duration + retry period', async () => {
    for (const random of [0, 0.5, 0.999]) {
      for (let offset = 0; offset < TIMES.retryPeriodMs; offset += 250) {
        const { clock, candidate } = setUp();
        const one = candidate('one');
        await clock.advance(offset);
        const two = candidate('two', { random: () => random });
        await clock.advance(30_000 - offset);
        // Its last renewal was at 30 s.
        one.journey = silent;
        await clock.advance(TIMES.leaseDurationMs + TIMES.retryPeriodMs);
        expect(two.isLeader).toBe(true);
      }
    }
  });

  test('[L1] the pauses of a candidate do not grow', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({ holderIdentity: 'other', leaseDurationSeconds: 1_000_000 });
    let next = 0;
    const waiting = candidate('one', {
      random: () => {
        next = (next + 0.37) % 1;
        return next;
      },
    });
    await clock.advance(HOUR);
    const perHour = HOUR / TIMES.retryPeriodMs;
    expect(waiting.requests.length).toBeGreaterThanOrEqual(perHour);
    expect(waiting.requests.length).toBeLessThanOrEqual(1.25 * perHour + 1);
  });

  test('[L3] a released Lease is taken as soon as the watch shows it', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    const two = candidate('two');
    await clock.advance(5_000);
    one.stop();
    await clock.advance(0);
    expect(one.isStopped).toBe(true);
    expect(leases.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    two.elector.hint(undefined);
    await clock.advance(1);
    expect(two.isLeader).toBe(true);
    expect(leases.lease?.spec?.leaseTransitions).toBe(1);
  });

  test('[L3] a watch that shows a release while the Lease is being read makes another read', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({ holderIdentity: 'other', leaseDurationSeconds: 15 });
    const one = candidate('one');
    one.journey = () => ({ backMs: 100 });
    await clock.advance(TIMES.retryPeriodMs + 50);
    leases.edit({ holderIdentity: '' });
    one.elector.hint(undefined);
    await clock.advance(300);
    expect(one.isLeader).toBe(true);
  });

  test('[L1] a watch that shows every renewal makes no requests', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    const two = candidate('two');
    await clock.advance(1_000);
    const before = [one.requests.length, two.requests.length];
    for (const { elector } of [one, two]) {
      for (let event = 0; event < 100; event++) elector.hint('one');
    }
    await clock.advance(100);
    expect([one.requests.length, two.requests.length]).toEqual(before);
  });
});

describe('keeping', () => {
  test('[L4] one reply that never comes does not end leadership', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    let requests = 0;
    // Another port gave each attempt the whole deadline, and lost it 90 times in six days.
    one.journey = () => (requests++ % 2 === 0 ? silent() : {});
    for (let second = 0; second < 120; second++) {
      await clock.advance(1_000);
      expect(one.isLeader).toBe(true);
    }
    expect(one.gained).toBe(1);
    expect(one.messages()).not.toContain(LOST);
  });

  test('[L4] replies of four seconds do not end leadership', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    one.journey = () => ({ outMs: 2_000, backMs: 2_000 });
    await clock.advance(120_000);
    expect(one.isLeader).toBe(true);
    expect(one.gained).toBe(1);
  });

  test('[L2] without renewals it may not write once the renew deadline is over, counted from the start', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    one.journey = (method) => (method === 'update' ? silent() : { outMs: 1_000, backMs: 1_000 });
    // The create begins at once, and is answered after 2 s.
    await clock.advance(2_000);
    expect(one.isLeader).toBe(true);
    const { term } = one.elector.leadership;
    await clock.advance(7_999);
    expect(one.isLeader).toBe(true);
    expect(term.aborted).toBe(false);
    await clock.advance(1);
    expect(term.aborted).toBe(true);
    expect(one.isLeader).toBe(false);
    expect(one.messages().filter((message) => message === LOST)).toHaveLength(1);
  });

  test('[L2] a virtual machine that was paused may not write: its wall clock has jumped', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10_000);
    expect(one.isLeader).toBe(true);
    const { term } = one.elector.leadership;
    one.clock.wallSkewMs += 10_000;
    expect(one.isLeader).toBe(false);
    expect(term.aborted).toBe(true);
    // Nobody took the Lease meanwhile: it is leader again, and `onGained` is called.
    await clock.advance(TIMES.retryPeriodMs);
    expect(one.isLeader).toBe(true);
    expect(one.gained).toBe(2);
  });

  test('[L2] a wall clock that was set back does not let it write for longer', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10_000);
    one.clock.wallSkewMs -= HOUR;
    one.journey = silent;
    await clock.advance(TIMES.renewDeadlineMs);
    expect(one.isLeader).toBe(false);
  });

  test('[L2] an answer that comes after a pause of the machine does not make it leader', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    one.journey = (method) => (method === 'create' ? { backMs: 1_000 } : {});
    await clock.advance(500);
    expect(leases.holders).toEqual(['one']);
    one.clock.wallSkewMs += TIMES.renewDeadlineMs;
    await clock.advance(500);
    expect(one.isLeader).toBe(false);
    expect(one.gained).toBe(0);
  });
});

describe('losing', () => {
  test('[L3] a holder that cannot renew stops, and leads again once it can', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    one.journey = silent;
    await clock.advance(60_000);
    expect(one.isLeader).toBe(false);
    one.journey = () => ({});
    await clock.advance(TIMES.renewDeadlineMs);
    expect(one.isLeader).toBe(true);
    expect(one.gained).toBe(2);
    expect(one.messages()).toEqual([
      'became leader',
      'the Lease cannot be read or written; retrying',
      LOST,
      'became leader',
      'resolved',
    ]);
  });

  test('[L3] after an outage for both, one of them leads', async () => {
    const { clock, candidate } = setUp();
    const both = [candidate('one'), candidate('two')];
    await clock.advance(5_000);
    for (const one of both) one.journey = silent;
    await clock.advance(60_000);
    expect(both.map(({ isLeader }) => isLeader)).toEqual([false, false]);
    for (const one of both) one.journey = () => ({});
    await clock.advance(TIMES.leaseDurationMs);
    expect(both.filter(({ isLeader }) => isLeader)).toHaveLength(1);
  });

  test('[L3] a holder that finds another one stops, stays, and leads again when that one leaves', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    const two = candidate('two');
    one.journey = silent;
    await clock.advance(TIMES.leaseDurationMs + TIMES.retryPeriodMs);
    one.journey = () => ({});
    await clock.advance(TIMES.renewDeadlineMs);
    expect([one.isLeader, two.isLeader]).toEqual([false, true]);
    two.stop();
    await clock.advance(TIMES.retryPeriodMs);
    expect(one.isLeader).toBe(true);
    expect([one.gained, two.gained]).toEqual([2, 1]);
  });

  test('[L3] a Lease that somebody deletes is created again', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10_000);
    leases.delete();
    one.elector.hint(undefined);
    await clock.advance(10);
    expect(leases.lease?.spec).toMatchObject({ holderIdentity: 'one', leaseTransitions: 0 });
    expect(one.isLeader).toBe(true);
    // Somebody else might have had it in between.
    expect(one.gained).toBe(2);
  });

  test('[L3] a Lease that somebody gives to another is lost at once, and taken when that never renews', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10_000);
    leases.edit({ holderIdentity: 'nobody' });
    one.elector.hint('nobody');
    await clock.advance(10);
    expect(one.isLeader).toBe(false);
    expect(one.log.told).toContainEqual(
      expect.objectContaining({ message: LOST, reason: 'nobody holds it' }),
    );
    await clock.advance(TIMES.leaseDurationMs);
    expect(one.isLeader).toBe(true);
  });

  test('[L3] edits of the Lease that leave its holder are overwritten, and end nothing', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10_000);
    const { acquireTime } = leases.lease?.spec ?? {};
    leases.edit({
      leaseDurationSeconds: 3_600,
      renewTime: '1970-01-01T00:00:00.000000Z',
      leaseTransitions: 7,
    });
    await clock.advance(TIMES.retryPeriodMs);
    expect(leases.lease?.spec).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime,
      renewTime: '2026-01-01T00:00:12.000000Z',
      leaseTransitions: 7,
    });
    expect(one.gained).toBe(1);
    expect(one.isLeader).toBe(true);
  });

  test('[L3] a Lease without a record is taken', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({});
    const one = candidate('one');
    await clock.advance(10);
    expect(one.isLeader).toBe(true);
  });
});

describe('stopping', () => {
  test('[L3] the Lease is released after the writes in flight are aborted', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    const holderAtAbort: unknown[] = [];
    one.elector.leadership.term.addEventListener('abort', () =>
      holderAtAbort.push(leases.lease?.spec?.holderIdentity, one.isLeader),
    );
    one.stop();
    await clock.advance(10);
    expect(holderAtAbort).toEqual(['one', false]);
    expect(leases.lease?.spec?.holderIdentity).toBe('');
    expect(one.isStopped).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test('[L3] a renewal that arrives during the release does not keep the Lease', async () => {
    for (const outMs of [1, 10, 20, 30]) {
      const { clock, leases, candidate } = setUp();
      const one = candidate('one');
      await clock.advance(TIMES.retryPeriodMs - 10);
      let requests = 0;
      // The renewal that the stop aborts is late, and so is the answer of the read after it.
      one.journey = () => (requests++ === 0 ? { outMs } : { outMs: 5, backMs: 10 });
      await clock.advance(10);
      one.stop();
      await clock.advance(200);
      expect(leases.lease?.spec?.holderIdentity).toBe('');
      expect(one.isStopped).toBe(true);
    }
  });

  test('[L3] a stop while it acquires the Lease releases it', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    one.journey = (method) => (method === 'create' ? { backMs: 1_000 } : {});
    await clock.advance(500);
    expect(leases.holders).toEqual(['one']);
    one.stop();
    await clock.advance(10);
    expect(leases.holders).toEqual(['one', '']);
    expect(one.gained).toBe(0);
    expect(one.messages()).toEqual(['released the Lease']);
  });

  test('[L3] a stop does not release what somebody else holds', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    leases.edit({ holderIdentity: 'other' });
    one.stop();
    await clock.advance(10);
    expect(leases.lease?.spec?.holderIdentity).toBe('other');
    expect(one.isStopped).toBe(true);
  });

  test('[L3] a stop is not reported as a failure if somebody has deleted the Lease', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    leases.delete();
    one.stop();
    await clock.advance(10);
    expect([one.isStopped, one.messages()]).toEqual([true, ['became leader']]);
  });

  test('[L3] a standby stops without a request', async () => {
    const { clock, leases, candidate } = setUp();
    leases.edit({ holderIdentity: 'other', leaseDurationSeconds: 15 });
    const one = candidate('one');
    await clock.advance(10);
    one.stop();
    await clock.advance(0);
    expect(one.isStopped).toBe(true);
    expect(one.requests).toEqual(['get']);
  });

  test('[L3] a holder that has found another one stops without a request', async () => {
    const { clock, leases, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    leases.edit({ holderIdentity: 'other', leaseDurationSeconds: 15 });
    await clock.advance(TIMES.retryPeriodMs);
    const { length } = one.requests;
    one.stop();
    await clock.advance(0);
    expect([one.isStopped, one.requests.length]).toEqual([true, length]);
  });

  test('[Q3] a server that answers nothing delays a stop by half the renew deadline', async () => {
    const { clock, candidate } = setUp();
    const one = candidate('one');
    await clock.advance(10);
    one.journey = silent;
    one.stop();
    await clock.advance(TIMES.renewDeadlineMs / 2);
    expect(one.isStopped).toBe(true);
    expect(one.messages()).toEqual([
      'became leader',
      'the Lease was not released; others wait until it expires',
    ]);
  });
});

test('it says whether it leads, and how old the last renewal of its term is', async () => {
  const { clock, candidate } = setUp();
  const one = candidate('one');
  expect([one.elector.leadership.mayWrite(), one.elector.leadership.renewalAgeMs()]).toEqual([
    false,
    undefined,
  ]);
  await clock.advance(3_500);
  expect([one.elector.leadership.mayWrite(), one.elector.leadership.renewalAgeMs()]).toEqual([true, 1_500]);
  one.journey = silent;
  await clock.advance(20_000);
  expect([one.elector.leadership.mayWrite(), one.elector.leadership.renewalAgeMs()]).toEqual([
    false,
    undefined,
  ]);
});
