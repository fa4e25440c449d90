import { expect, test } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { TurnBudget } from '../../src/clock/turn-budget.ts';

/** A clock that moves while work is done. `turns`: how often somebody let the event loop turn. */
class WorkClock implements Clock {
  turns = 0;
  #now = 0;

  now(): number {
    return this.#now;
  }

  wallTime(): Date {
    return new Date(this.#now);
  }

  setTimer(_: number, callback: () => void) {
    this.turns += 1;
    queueMicrotask(callback);
    return { cancel: () => undefined };
  }

  work(ms: number): number {
    this.#now += ms;
    return ms;
  }
}

test('[W2] the event loop turns after every 10 ms of work, whether in lists or one by one', async () => {
  const clock = new WorkClock();
  const budget = new TurnBudget(clock);
  await budget.each([4, 4], (ms) => clock.work(ms));
  expect(clock.turns).toBe(0);
  expect(await budget.take(() => clock.work(4))).toBe(4);
  expect(clock.turns).toBe(1);
  await budget.take(() => clock.work(9));
  expect(clock.turns).toBe(1);
  await budget.each([1, 30, 30], (ms) => clock.work(ms));
  expect(clock.turns).toBe(4);
});
