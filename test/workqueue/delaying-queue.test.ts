import { describe, expect, it } from 'vitest';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import type { Lane } from '../../src/workqueue/lanes.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Takes every key as it comes, and records the key and the time. */
function observe(queue: DelayingQueue, clock: ManualClock): string[] {
  const seen: string[] = [];
  const consume = async () => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      seen.push(`${key}@${clock.now()}`);
      queue.done(key);
    }
  };
  void consume();
  return seen;
}

describe('DelayingQueue', () => {
  const cases: readonly {
    readonly name: string;
    readonly delays: readonly (readonly [key: string, delayMs: number])[];
    readonly expected: readonly string[];
  }[] = [
    { name: 'adds a key when its delay is over', delays: [['a', 100]], expected: ['a@100'] },
    { name: 'adds at once what has no delay', delays: [['a', 0]], expected: ['a@0'] },
    { name: 'takes a delay below 0 for none', delays: [['a', -1]], expected: ['a@0'] },
    {
      name: 'hands keys out in the order in which their delays end',
      delays: [
        ['a', 300],
        ['b', 100],
        ['c', 200],
      ],
      expected: ['b@100', 'c@200', 'a@300'],
    },
    {
      name: 'lets the earlier of two delays win when it comes second',
      delays: [
        ['a', 300],
        ['a', 100],
      ],
      expected: ['a@100'],
    },
    {
      name: 'lets the earlier of two delays win when it comes first',
      delays: [
        ['a', 100],
        ['a', 300],
      ],
      expected: ['a@100'],
    },
  ];
  it.each(cases)('[Q1] $name', async ({ delays, expected }) => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    const seen = observe(queue, clock);
    for (const [key, delayMs] of delays) queue.addAfter(key, delayMs);
    await clock.advance(1_000);
    expect(seen).toEqual(expected);
    expect(clock.pendingTimers).toBe(0);
  });

  it('[Q1] an add in the meantime does not cancel the delay', async () => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    const seen = observe(queue, clock);
    queue.addAfter('a', 100);
    await clock.advance(50);
    queue.add('a');
    await clock.advance(100);
    expect(seen).toEqual(['a@50', 'a@100']);
  });

  it('[Q1] a key can be delayed again after it was added', async () => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    const seen = observe(queue, clock);
    queue.addAfter('a', 100);
    await clock.advance(100);
    queue.addAfter('a', 500);
    await clock.advance(500);
    expect(seen).toEqual(['a@100', 'a@600']);
  });

  const lanes: readonly { readonly asked: readonly [number, Lane][]; readonly firstOut: string }[] = [
    { asked: [[100, 'bulk']], firstOut: 'other' },
    { asked: [[100, 'fresh']], firstOut: 'a' },
    {
      asked: [
        [100, 'bulk'],
        [200, 'fresh'],
      ],
      firstOut: 'a',
    },
    {
      asked: [
        [200, 'fresh'],
        [100, 'bulk'],
      ],
      firstOut: 'a',
    },
  ];
  it.each(lanes)('[Q2] delays in lanes $asked come before a waiting bulk key: $firstOut', async (the) => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    queue.add('other', 'bulk');
    for (const [delayMs, lane] of the.asked) queue.addAfter('a', delayMs, lane);
    await clock.advance(100);
    expect(queue.length).toBe(2);
    expect(await queue.get()).toBe(the.firstOut);
  });

  it('[Q2] a delay without a lane uses the lane in which the key is processed', async () => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    queue.add('a', 'bulk');
    await queue.get();
    queue.addAfter('a', 100);
    queue.done('a');
    queue.add('other', 'bulk');
    await clock.advance(100);
    expect(await queue.get()).toBe('other');
    expect(await queue.get()).toBe('a');
  });

  it('[Q3] after a shutdown it cancels its timers and takes no new delay', async () => {
    const clock = new ManualClock();
    const queue = new DelayingQueue({ clock });
    const seen = observe(queue, clock);
    queue.addAfter('a', 100);
    queue.shutDown();
    queue.addAfter('b', 100);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1_000);
    expect(seen).toEqual([]);
  });
});
