import { expect, test } from 'vitest';
import { Wakeup } from '../../src/clock/wakeup.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('a wait ends when it is woken, also if that was before, or after its time', async () => {
  const clock = new ManualClock();
  const wakeup = new Wakeup();
  const endedAt: number[] = [];
  const waiting = (async () => {
    for (const ms of [undefined, undefined, 5_000]) {
      await wakeup.wait(clock, ms);
      endedAt.push(clock.now());
    }
  })();
  clock.setTimer(1_000, () => wakeup.wake());
  await clock.advance(2_000);
  expect(endedAt).toEqual([1_000]);
  wakeup.wake();
  await clock.advance(10_000);
  await waiting;
  expect(endedAt).toEqual([1_000, 2_000, 7_000]);
  wakeup.wake();
  await wakeup.wait(clock);
  expect(clock.pendingTimers).toBe(0);
});
