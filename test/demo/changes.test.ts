import { expect, test } from 'vitest';
import { Changes } from '../../src/demo/changes.ts';
import { ManualClock } from '../support/manual-clock.ts';

function waiting() {
  const clock = new ManualClock();
  const stop = new AbortController();
  const changes = new Changes();
  const state = { value: 0 };
  const answer = changes.until(() => (state.value === 2 ? 'two' : undefined), {
    clock,
    deadlineMs: 1000,
    signal: stop.signal,
  });
  return { clock, stop, changes, state, answer };
}

test('the answer comes with the change that makes it true', async () => {
  const { changes, state, answer } = waiting();
  for (state.value = 1; state.value <= 2; state.value += 1) changes.notify();
  expect(await answer).toBe('two');
});

test('what is true already is answered at once', async () => {
  const { changes, clock, stop } = waiting();
  const patience = { clock, deadlineMs: 1000, signal: stop.signal };
  expect(await changes.until(() => 'now', patience)).toBe('now');
});

test('there is no answer after the deadline', async () => {
  const { clock, answer } = waiting();
  await clock.advance(1000);
  expect(await answer).toBeUndefined();
});

test('there is no answer after an interruption, before or during the wait', async () => {
  const { changes, clock, stop, answer } = waiting();
  stop.abort();
  expect(await answer).toBeUndefined();
  const patience = { clock, deadlineMs: 1000, signal: stop.signal };
  expect(await changes.until(() => 'now', patience)).toBeUndefined();
});

test('a question that throws harms who asks, not who notifies', async () => {
  const { changes, clock, stop } = waiting();
  let asked = 0;
  const broken = changes.until(
    () => {
      asked += 1;
      if (asked === 2) throw new Error('broken question');
      return undefined;
    },
    { clock, deadlineMs: 1000, signal: stop.signal },
  );
  changes.notify();
  await expect(broken).rejects.toThrow('broken question');
  changes.notify();
  expect(asked).toBe(2);
});
