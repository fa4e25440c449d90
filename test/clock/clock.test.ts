import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock/clock.ts';

test('a delay longer than the longest of Node does not end at once', async () => {
  const ended: string[] = [];
  const long = systemClock.setTimer(2 ** 31, () => ended.push('long'));
  await new Promise<void>((resolve) => {
    systemClock.setTimer(20, () => {
      ended.push('short');
      resolve();
    });
  });
  long.cancel();
  expect(ended).toEqual(['short']);
});
