import { describe, expect, test } from 'vitest';
import { SupersededError, WriteLimiter, type WriteTurn } from '../../src/controller/write-limiter.ts';
import { ManualClock } from '../support/manual-clock.ts';

const turn = (lane: WriteTurn['lane'], leadsBulk = false): WriteTurn => ({
  lane,
  leadsBulk,
  check: () => undefined,
});

/** Writes that end when told to, and remember the order in which they left. */
function setUp(maxWritesInFlight: number) {
  const clock = new ManualClock();
  const limiter = new WriteLimiter({ maxWritesInFlight, maxWritesPerSecond: 0 }, clock);
  const left: string[] = [];
  const underWay = new Map<string, () => void>();
  const write = (name: string, lane: WriteTurn['lane'], leadsBulk = false) =>
    limiter.run(turn(lane, leadsBulk), async () => {
      left.push(name);
      await new Promise<void>((end) => underWay.set(name, end));
    });
  const end = async (name: string) => {
    underWay.get(name)?.();
    underWay.delete(name);
    await new Promise(setImmediate);
  };
  return { clock, limiter, left, underWay, write, end };
}

async function bulk(parts: ReturnType<typeof setUp>, count: number): Promise<void> {
  for (let number = 0; number < count; number++) void parts.write(`bulk ${number}`, 'bulk');
  await new Promise(setImmediate);
}

describe('[Q2] the writes in flight', () => {
  test('bulk takes half of the places, and fresh writes leave at once all the same', async () => {
    const parts = setUp(4);
    await bulk(parts, 100);
    expect(parts.underWay.size).toBe(2);
    void parts.write('edit', 'fresh');
    await new Promise(setImmediate);
    expect(parts.left).toEqual(['bulk 0', 'bulk 1', 'edit']);
  });

  test('bulk makes way while others have fresh writes, and has its places again half a second later', async () => {
    const parts = setUp(16);
    await bulk(parts, 100);
    expect(parts.underWay.size).toBe(8);
    void parts.write('edit', 'fresh');
    for (let number = 0; number < 20; number++) await parts.end(`bulk ${number}`);
    expect([...parts.underWay.keys()]).toEqual(['edit', 'bulk 20']);
    await parts.clock.advance(500);
    await parts.end('bulk 20');
    await parts.end('bulk 21');
    expect(parts.underWay.size).toBe(1 + 8);
  });

  test('the fresh writes with which a fan-out begins do not slow it down', async () => {
    const parts = setUp(16);
    void parts.write('first', 'fresh', true);
    await bulk(parts, 100);
    expect(parts.underWay.size).toBe(1 + 8);
  });

  test('a fan-out that begins while another one is written is made way for', async () => {
    const parts = setUp(16);
    await bulk(parts, 100);
    void parts.write('first', 'fresh', true);
    for (let number = 0; number < 20; number++) await parts.end(`bulk ${number}`);
    expect([...parts.underWay.keys()]).toEqual(['first', 'bulk 20']);
  });

  test('bulk that begins just after somebody has made a change makes way from its first write on', async () => {
    const parts = setUp(16);
    void parts.write('edit', 'fresh');
    await parts.end('edit');
    await bulk(parts, 100);
    expect([...parts.underWay.keys()]).toEqual(['bulk 0']);
    await parts.clock.advance(500);
    await parts.end('bulk 0');
    expect(parts.underWay.size).toBe(8);
  });

  test('[R9] bulk has its places again though none of its writes ends', async () => {
    const parts = setUp(16);
    void parts.write('edit', 'fresh');
    await parts.end('edit');
    await bulk(parts, 100);
    expect([...parts.underWay.keys()]).toEqual(['bulk 0']);
    await parts.clock.advance(500);
    expect(parts.underWay.size).toBe(8);
  });

  test('[R9] bulk goes on though its writes get no answer and somebody makes one change after the other', async () => {
    const parts = setUp(16);
    const editUntil = async (ms: number) => {
      while (parts.clock.now() < ms) {
        void parts.write('edit', 'fresh');
        await parts.end('edit');
        await parts.clock.advance(10);
      }
    };
    void parts.write('edit', 'fresh');
    await parts.end('edit');
    await bulk(parts, 100);
    await editUntil(490);
    expect([...parts.underWay.keys()]).toEqual(['bulk 0']);
    await editUntil(1000);
    expect([...parts.underWay.keys()]).toEqual(['bulk 0', 'bulk 1']);
    await editUntil(20_000);
    expect(parts.underWay.size).toBe(8);
  });

  test('[R9] one bulk write without an answer does not slow the others, while somebody makes one change after the other', async () => {
    const parts = setUp(16);
    const edit = async () => {
      void parts.write('edit', 'fresh');
      await parts.end('edit');
    };
    await edit();
    await bulk(parts, 100);
    for (let ms = 0; ms < 500; ms += 100) {
      await parts.clock.advance(100);
      await edit();
    }
    for (let number = 1; number < 50; number++) {
      expect([...parts.underWay.keys()]).toEqual(['bulk 0', `bulk ${number}`]);
      await parts.end(`bulk ${number}`);
    }
  });

  test('never more than the bound, and fresh before bulk when it is reached', async () => {
    const parts = setUp(2);
    await bulk(parts, 3);
    for (const name of ['edit 0', 'edit 1']) void parts.write(name, 'fresh');
    await new Promise(setImmediate);
    expect(parts.underWay.size).toBe(2);
    await parts.end('bulk 0');
    expect(parts.left).toEqual(['bulk 0', 'edit 0', 'edit 1']);
    expect(parts.underWay.size).toBe(2);
  });

  test('one place is enough for both', async () => {
    const parts = setUp(1);
    await bulk(parts, 2);
    await parts.end('bulk 0');
    await parts.end('bulk 1');
    expect(parts.left).toEqual(['bulk 0', 'bulk 1']);
  });

  test('a check that throws as the turn comes calls the write off, and frees the place', async () => {
    const parts = setUp(1);
    let called = false;
    const overtaken: WriteTurn = {
      lane: 'fresh',
      leadsBulk: false,
      check: () => {
        throw new SupersededError('overtaken');
      },
    };
    const write = parts.limiter.run(overtaken, async () => {
      called = true;
    });
    await expect(write).rejects.toThrow('overtaken');
    expect(called).toBe(false);
    expect(await parts.limiter.run(turn('bulk'), async () => 'next')).toBe('next');
  });
});
