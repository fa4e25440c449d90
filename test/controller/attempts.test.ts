import { describe, expect, test } from 'vitest';
import { Attempts } from '../../src/controller/attempts.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { ManualClock } from '../support/manual-clock.ts';

const source = 'shop/colors' as ObjectKey;
const companion = 'team-a/colors-synced' as ObjectKey;
const other = 'team-b/colors-synced' as ObjectKey;
const transient = { kind: 'transient', retryAfterMs: undefined } as const;

function setUp(random = () => 0) {
  const clock = new ManualClock();
  return { clock, attempts: new Attempts(clock, random) };
}

describe('[R15] transient failures', () => {
  test('double from 50 ms to 30 s; success forgets', () => {
    const { attempts } = setUp();
    const delays = Array.from({ length: 12 }, () => attempts.failed(source, companion, 'v1', transient));
    expect(delays.slice(0, 4)).toEqual([50, 100, 200, 400]);
    expect(delays.slice(-2)).toEqual([30_000, 30_000]);
    attempts.succeeded(source, companion);
    expect(attempts.failed(source, companion, 'v1', transient)).toBe(50);
  });

  test('are spread by jitter, which only shortens', () => {
    const { attempts } = setUp(() => 0.999999);
    expect(attempts.failed(source, companion, 'v1', transient)).toBeCloseTo(25);
  });

  test('wait as long as the server asks, beyond the cap', () => {
    const { attempts } = setUp();
    const asked = { kind: 'transient', retryAfterMs: 45_000 } as const;
    expect(attempts.failed(source, companion, 'v1', asked)).toBe(45_000);
  });

  test('count down on the clock, and not for another version or another companion', async () => {
    const { clock, attempts } = setUp();
    attempts.failed(source, companion, 'v1', transient);
    await clock.advance(30);
    expect(attempts.waitMs(source, companion, 'v1')).toBe(20);
    expect(attempts.waitMs(source, companion, 'v2')).toBe(0);
    expect(attempts.waitMs(source, other, 'v1')).toBe(0);
    await clock.advance(20);
    expect(attempts.waitMs(source, companion, 'v1')).toBe(0);
  });
});

test('[R6] a blocked name is looked at again before 30 s are over, whatever the jitter', () => {
  for (const random of [() => 0, () => 0.999999]) {
    const { attempts } = setUp(random);
    for (let times = 0; times < 5; times++) {
      const delay = attempts.failed(source, companion, 'v1', { kind: 'blocked' });
      expect(delay).toBeGreaterThan(15_000);
      expect(delay).toBeLessThan(29_000);
    }
  }
});

test('[R13] what the server calls invalid is tried at the cap, what is hopeless only after a change', () => {
  const { attempts } = setUp();
  expect(attempts.failed(source, companion, 'v1', { kind: 'invalid' })).toBe(30_000);
  expect(attempts.failed(source, other, 'v1', { kind: 'hopeless' })).toBe(Number.POSITIVE_INFINITY);
  expect(attempts.waitMs(source, other, 'v1')).toBe(Number.POSITIVE_INFINITY);
  expect(attempts.waitMs(source, other, 'v2')).toBe(0);
});

test('[R9] what a source no longer asks for is forgotten, the rest is not', () => {
  const { attempts } = setUp();
  attempts.failed(source, companion, 'v1', transient);
  attempts.failed(source, other, 'v1', transient);
  attempts.forget(source, (key) => key === companion);
  expect([attempts.failures(source, companion), attempts.failures(source, other)]).toEqual([0, 1]);
});
