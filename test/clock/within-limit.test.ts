import { expect, test } from 'vitest';
import { aborted } from '../../src/clock/clock.ts';
import { withinLimit } from '../../src/clock/within-limit.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('work is aborted at its limit or by the signal, also if that was before, and leaves no timer', async () => {
  const clock = new ManualClock();
  const endsAt = (signal?: AbortSignal) =>
    withinLimit(clock, 5_000, signal, async (limited) => {
      await aborted(limited);
      return clock.now();
    });
  const stop = new AbortController();
  clock.setTimer(1_000, () => stop.abort());
  const ends = Promise.all([endsAt(), endsAt(stop.signal), endsAt(AbortSignal.abort())]);
  await clock.advance(10_000);
  expect(await ends).toEqual([5_000, 1_000, 0]);
  expect(await withinLimit(clock, 5_000, undefined, async () => 'done')).toBe('done');
  expect(clock.pendingTimers).toBe(0);
});
