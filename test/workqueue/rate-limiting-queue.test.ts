import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimitingQueue, RETRY_BACKOFF } from '../../src/workqueue/rate-limiting-queue.ts';
import { ManualClock } from '../support/manual-clock.ts';

const noJitter = () => 0;

describe('RateLimitingQueue', () => {
  it('[R15] waits twice as long after each failure, up to 30 s', () => {
    const queue = new RateLimitingQueue({ clock: new ManualClock(), random: noJitter });
    const delays = Array.from({ length: 12 }, () => queue.addRateLimited('a'));
    expect(delays).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    expect(queue.numRequeues('a')).toBe(12);
  });

  it('[R15] adds the key when its delay is over, not before', async () => {
    const clock = new ManualClock();
    const queue = new RateLimitingQueue({ clock, random: noJitter });
    const delayMs = queue.addRateLimited('a');
    await clock.advance(delayMs - 1);
    expect(queue.length).toBe(0);
    await clock.advance(1);
    expect(await queue.get()).toBe('a');
  });

  it('[R15] jitter only shortens, and by no more than half', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 60 }),
        (random, failures) => {
          const plain = new RateLimitingQueue({ clock: new ManualClock(), random: noJitter });
          const jittered = new RateLimitingQueue({ clock: new ManualClock(), random: () => random });
          for (let failure = 1; failure <= failures; failure++) {
            const longest = plain.addRateLimited('a');
            const delayMs = jittered.addRateLimited('a');
            expect(delayMs).toBeLessThanOrEqual(longest);
            expect(delayMs).toBeGreaterThanOrEqual(longest / 2);
          }
        },
      ),
    );
  });

  it('[R15] success forgets, for that key alone', () => {
    const queue = new RateLimitingQueue({ clock: new ManualClock(), random: noJitter });
    for (const key of ['a', 'a', 'b', 'b']) queue.addRateLimited(key);
    queue.forget('a');
    expect(queue.numRequeues('a')).toBe(0);
    expect(queue.addRateLimited('a')).toBe(50);
    expect(queue.addRateLimited('b')).toBe(200);
  });

  const retryAfters: readonly { readonly notBeforeMs: number | undefined; readonly delayMs: number }[] = [
    { notBeforeMs: undefined, delayMs: 50 },
    { notBeforeMs: 10, delayMs: 50 },
    { notBeforeMs: 1_000, delayMs: 1_000 },
    { notBeforeMs: 4 * RETRY_BACKOFF.capMs, delayMs: 4 * RETRY_BACKOFF.capMs },
  ];
  it.each(retryAfters)(
    '[R15] a Retry-After of $notBeforeMs ms makes the first delay $delayMs ms',
    async (the) => {
      const clock = new ManualClock();
      const queue = new RateLimitingQueue({ clock, random: noJitter });
      expect(queue.addRateLimited('a', { notBeforeMs: the.notBeforeMs })).toBe(the.delayMs);
      await clock.advance(the.delayMs - 1);
      expect(queue.length).toBe(0);
      await clock.advance(1);
      expect(queue.length).toBe(1);
    },
  );

  it('[Q2] a retry comes back in the lane of the try, or in the one that is named', async () => {
    const clock = new ManualClock();
    const queue = new RateLimitingQueue({ clock, random: noJitter });
    for (const key of ['a', 'b']) {
      queue.add(key, 'bulk');
      await queue.get();
    }
    queue.addRateLimited('a');
    queue.addRateLimited('b', { lane: 'fresh' });
    for (const key of ['a', 'b']) queue.done(key);
    await clock.advance(RETRY_BACKOFF.capMs);
    expect(await queue.get()).toBe('b');
    expect(await queue.get()).toBe('a');
  });
});
