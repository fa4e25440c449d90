import { expect, test } from 'vitest';
import { Deadlines } from '../../../src/kube/http/deadlines.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('[W3] each limit ends in its own time, and one that is taken back never', async () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock, 1_000);
  const over: string[] = [];
  const begin = (name: string) => deadlines.begin(() => over.push(`${name} at ${clock.now()}`));
  const start = clock.now();
  begin('first');
  await clock.advance(300);
  const takeBack = begin('second');
  await clock.advance(300);
  begin('third');
  takeBack();
  await clock.advance(2_000);
  expect(over).toEqual([`first at ${start + 1_000}`, `third at ${start + 1_600}`]);
  expect(clock.pendingTimers).toBe(0);
});

test('no timer is left when nothing is under way', () => {
  const clock = new ManualClock();
  const deadlines = new Deadlines(clock, 1_000);
  const ends = [1, 2].map(() => deadlines.begin(() => undefined));
  expect(clock.pendingTimers).toBe(1);
  for (const end of ends) end();
  expect(clock.pendingTimers).toBe(0);
});
