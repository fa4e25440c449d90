import { expect, test } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { ManualClock } from './manual-clock.ts';
import { waitFor } from './wait-for.ts';

test('a manual clock fires timers in time order, those that they set included', async () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  const note = (what: string) => fired.push(`${what} at ${clock.now()}`);
  clock.setTimer(20, () => note('second'));
  clock.setTimer(10, () => {
    note('first');
    clock.setTimer(15, () => note('set by the first'));
  });
  clock.setTimer(20, () => note('third'));
  clock.setTimer(5, () => note('cancelled')).cancel();
  clock.setTimer(31, () => note('too late'));

  await clock.advance(30);
  expect(fired).toEqual(['first at 10', 'second at 20', 'third at 20', 'set by the first at 25']);
  expect(clock.now()).toBe(30);
  expect(clock.pendingTimers).toBe(1);
  expect(clock.wallTime().toISOString()).toBe('2026-01-01T00:00:00.030Z');
});

test('a manual clock lets promise chains settle before time goes on', async () => {
  const clock = new ManualClock();
  const woken: number[] = [];
  const loop = async () => {
    for (let round = 0; round < 3; round += 1) {
      await sleep(clock, 10, new AbortController().signal);
      for (let link = 0; link < 100; link += 1) await Promise.resolve();
      woken.push(clock.now());
    }
  };
  const done = loop();
  await clock.advance(30);
  expect(woken).toEqual([10, 20, 30]);
  await done;
});

test('a manual clock says so when time cannot move on', async () => {
  const clock = new ManualClock();
  const again = () => {
    clock.setTimer(0, again);
  };
  again();
  await expect(clock.advance(1)).rejects.toThrow('hot loop');
});

test('a manual clock refuses to be advanced twice at once', async () => {
  const clock = new ManualClock();
  const first = clock.advance(1);
  await expect(clock.advance(1)).rejects.toThrow('not awaited');
  await first;
});

test('waitFor gives what the condition gave, and at the deadline says what it saw', async () => {
  let polls = 0;
  expect(await waitFor(() => ++polls > 2 && `seen ${polls}`)).toBe('seen 3');
  await expect(waitFor(() => 0, { deadlineMs: 30, describe: () => 'a companion' })).rejects.toThrow(
    'waited 30 ms in vain: a companion (last seen: 0)',
  );
  await expect(waitFor(() => expect(1).toBe(2), { deadlineMs: 30 })).rejects.toThrow('expected 1 to be 2');
});
