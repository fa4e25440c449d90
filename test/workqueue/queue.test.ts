import { describe, expect, it } from 'vitest';
import type { Lane } from '../../src/workqueue/lanes.ts';
import { FRESH_PER_BULK, WorkQueue } from '../../src/workqueue/queue.ts';

/** Takes every key that can be handed out now, without marking it as done. */
async function takeAll(queue: WorkQueue): Promise<(string | undefined)[]> {
  const keys: (string | undefined)[] = [];
  while (queue.length > 0) keys.push(await queue.get());
  return keys;
}

function addAll(queue: WorkQueue, lane: Lane, keys: readonly string[]): void {
  for (const key of keys) queue.add(key, lane);
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

describe('WorkQueue', () => {
  it('[Q1] hands out once a key that was added many times', async () => {
    const queue = new WorkQueue();
    addAll(queue, 'fresh', ['a', 'a', 'b', 'a']);
    expect(queue.length).toBe(2);
    expect(await takeAll(queue)).toEqual(['a', 'b']);
  });

  it('[Q1] does not hand out a key that is being processed, but once more after its done', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    expect(await queue.get()).toBe('a');
    addAll(queue, 'fresh', ['a', 'a']);
    expect(queue.length).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
    queue.done('a');
    expect(queue.length).toBe(0);
  });

  it('[Q1] serves waiting callers in the order of their calls', async () => {
    const queue = new WorkQueue();
    const first = queue.get();
    const second = queue.get();
    addAll(queue, 'bulk', ['a', 'b']);
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  it('[Q1] hands a key that was added while processed to a waiting caller', async () => {
    const queue = new WorkQueue();
    queue.add('a');
    await queue.get();
    const next = queue.get();
    queue.add('a');
    queue.done('a');
    expect(await next).toBe('a');
  });

  it('[Q1] ignores a done for a key that is not processed', async () => {
    const queue = new WorkQueue();
    queue.add('a', 'bulk');
    queue.done('a');
    queue.done('b');
    expect(await takeAll(queue)).toEqual(['a']);
  });

  const orders: readonly {
    readonly name: string;
    readonly bulk: readonly string[];
    readonly fresh: readonly string[];
    readonly expected: readonly string[];
  }[] = [
    {
      name: 'fresh keys overtake bulk keys that were there first',
      bulk: ['b1', 'b2'],
      fresh: ['f1', 'f2'],
      expected: ['f1', 'f2', 'b1', 'b2'],
    },
    {
      name: 'a key queued in bulk moves up when it is added as fresh',
      bulk: ['b1', 'b2', 'b3'],
      fresh: ['b2'],
      expected: ['b2', 'b1', 'b3'],
    },
    {
      name: 'one bulk key has its turn after so many fresh ones',
      bulk: ['b1', 'b2'],
      fresh: numbered('f', 2 * FRESH_PER_BULK + 1),
      expected: [
        ...numbered('f', FRESH_PER_BULK),
        'b1',
        ...numbered('f', 2 * FRESH_PER_BULK).slice(FRESH_PER_BULK),
        'b2',
        `f${2 * FRESH_PER_BULK + 1}`,
      ],
    },
  ];
  it.each(orders)('[Q2] $name', async ({ bulk, fresh, expected }) => {
    const queue = new WorkQueue();
    addAll(queue, 'bulk', bulk);
    addAll(queue, 'fresh', fresh);
    expect(await takeAll(queue)).toEqual(expected);
  });

  it('[Q2] a fresh key stays fresh when it is added in bulk', async () => {
    const queue = new WorkQueue();
    addAll(queue, 'bulk', ['b1', 'b2']);
    queue.add('f1', 'fresh');
    queue.add('f1', 'bulk');
    expect(await takeAll(queue)).toEqual(['f1', 'b1', 'b2']);
  });

  it('[Q2] a key that becomes fresh while it is processed comes back as fresh', async () => {
    const queue = new WorkQueue();
    queue.add('a', 'bulk');
    await queue.get();
    addAll(queue, 'bulk', ['b1', 'a']);
    queue.add('a', 'fresh');
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a', 'b1']);
  });

  it('[Q2] fresh keys handed out while no bulk key waited do not count against later ones', async () => {
    const queue = new WorkQueue();
    addAll(queue, 'fresh', numbered('x', FRESH_PER_BULK));
    await takeAll(queue);
    queue.add('b1', 'bulk');
    queue.add('f1', 'fresh');
    expect(await takeAll(queue)).toEqual(['f1', 'b1']);
  });

  it('[Q2] knows the lane in which a key is processed', async () => {
    const queue = new WorkQueue();
    addAll(queue, 'bulk', ['a']);
    expect(queue.laneOf('a')).toBe('fresh');
    await queue.get();
    expect(queue.laneOf('a')).toBe('bulk');
    queue.done('a');
    expect(queue.laneOf('a')).toBe('fresh');
  });

  it('[Q2] bulk keys beyond the limit wait, fresh ones do not', async () => {
    const queue = new WorkQueue({ bulkLimit: 2 });
    addAll(queue, 'bulk', ['b1', 'b2', 'b3']);
    expect([await queue.get(), await queue.get()]).toEqual(['b1', 'b2']);
    const waiting = queue.get();
    queue.add('edit', 'fresh');
    expect(await waiting).toBe('edit');
    const next = queue.get();
    queue.done('edit');
    queue.done('b1');
    expect(await next).toBe('b3');
  });

  it('[Q2] a bulk key added again while processed counts once against the limit', async () => {
    const queue = new WorkQueue({ bulkLimit: 1 });
    queue.add('b', 'bulk');
    for (let time = 0; time < 3; time++) {
      expect(await queue.get()).toBe('b');
      queue.add('b', 'bulk');
      queue.done('b');
    }
    expect(await queue.get()).toBe('b');
  });

  it('[Q2] knows whether somebody waits for the next run of a key that is processed', async () => {
    const queue = new WorkQueue();
    queue.add('a', 'bulk');
    expect(queue.isAwaited('a')).toBe(false);
    await queue.get();
    queue.add('a', 'bulk');
    expect(queue.isAwaited('a')).toBe(false);
    queue.add('a', 'fresh');
    expect(queue.isAwaited('a')).toBe(true);
    queue.done('a');
    expect(queue.isAwaited('a')).toBe(false);
  });

  it('[Q3] after a shutdown it hands out nothing, to waiting and to new callers', async () => {
    const queue = new WorkQueue();
    const waiting = queue.get();
    queue.shutDown();
    expect(await waiting).toBeUndefined();
    expect(await queue.get()).toBeUndefined();
  });

  it('[Q3] after a shutdown it hands out no key that is queued, added or done', async () => {
    const queue = new WorkQueue();
    addAll(queue, 'fresh', ['processed', 'queued']);
    await queue.get();
    queue.add('processed');
    queue.shutDown();
    queue.shutDown();
    queue.add('late');
    expect(queue.length).toBe(1);
    queue.done('processed');
    expect(queue.shuttingDown).toBe(true);
    expect(await queue.get()).toBeUndefined();
  });
});
