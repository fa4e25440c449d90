import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { PassReport } from '../../../src/controller/write/pass-report.ts';
import { type Pass, type Write, WriteQueue } from '../../../src/controller/write/write-queue.ts';
import { WriteRate } from '../../../src/controller/write/write-rate.ts';
import type { CompanionWriteStep } from '../../../src/controller/write/write-step.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { Lane } from '../../../src/workqueue/lanes.ts';
import { RecordedLog } from '../../informer/recorded-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A queue from which `slots` writers take what they can. The test ends each write. */
class Scene {
  readonly clock = new ManualClock();
  readonly requeued: string[] = [];
  /** Sources that have changed since they were planned. */
  readonly outdated = new Set<string>();
  readonly queue: WriteQueue;
  /** Names of companions in the order in which their writes began. */
  readonly begun: string[] = [];
  readonly underWay = new Map<string, Write>();

  constructor(slots: number, perSecond = 0) {
    this.queue = new WriteQueue({
      slots,
      rate: new WriteRate(perSecond, this.clock),
      clock: this.clock,
      isOutdated: ({ key }) => this.outdated.has(key),
      requeue: (source) => this.requeued.push(source),
    });
    for (let slot = 0; slot < slots; slot++) this.#take();
  }

  /** Adds a pass over `source` with one write for each name. Tells whether all have begun. */
  add(name: string, lane: Lane, ...names: readonly string[]): { allBegun: boolean } {
    const result = { allBegun: false };
    const steps = names.map((name): CompanionWriteStep => {
      return { action: 'create', companion: name as ObjectKey, state: 'missing', reason: '' };
    });
    const key = name as ObjectKey;
    const source = undefined;
    const report = new PassReport({
      ...{ key, source, steps, writes: steps.length, begunAt: 0 },
      ...{
        clock: this.clock,
        log: new RecordedLog(),
        emit: () => undefined,
        isHeldBack: false,
        onEnd: undefined,
      },
    });
    const pass: Pass = { key, source, shape: undefined, lane, report, yieldsAt: 0 };
    void this.queue.add(pass, steps).then(() => {
      result.allBegun = true;
    });
    return result;
  }

  /** A fan-out: so many writes that they are bulk. They begin with the last one. */
  fanOut(source: string, count: number): { allBegun: boolean } {
    return this.add(source, 'fresh', ...Array.from({ length: count }, (_, index) => `${source} ${index}`));
  }

  async end(name: string): Promise<void> {
    const write = this.underWay.get(name);
    if (write === undefined) throw new Error(`${name} is not under way`);
    this.underWay.delete(name);
    this.queue.done(write);
    this.#take();
    await turn();
  }

  #take(): void {
    void this.queue.get().then((write) => {
      if (write === undefined) return;
      this.begun.push(write.step.companion);
      this.underWay.set(write.step.companion, write);
    });
  }
}

describe('[Q2] the order of writes', () => {
  test('bulk takes half of the slots, so fresh writes begin at once', async () => {
    const scene = new Scene(4);
    scene.fanOut('big', 100);
    await turn();
    expect(scene.begun).toEqual(['big 99', 'big 98']);
    scene.add('small', 'fresh', 'edit');
    await turn();
    expect(scene.begun).toEqual(['big 99', 'big 98', 'edit']);
  });

  test('bulk yields while others make fresh writes, until half a second later', async () => {
    const scene = new Scene(32);
    scene.fanOut('big', 100);
    await turn();
    expect(scene.underWay.size).toBe(16);
    scene.add('small', 'fresh', 'edit');
    await turn();
    for (let number = 99; number > 83; number--) await scene.end(`big ${number}`);
    expect([...scene.underWay.keys()]).toEqual(['edit', 'big 83']);
    await scene.clock.advance(500);
    expect(scene.underWay.size).toBe(1 + 16);
  });

  test('a pass with more than eight writes is bulk', async () => {
    const scene = new Scene(32);
    const eight = Array.from({ length: 8 }, (_, index) => `eight ${index}`);
    scene.add('eight', 'fresh', ...eight);
    scene.fanOut('nine', 9);
    await turn();
    expect(scene.begun).toEqual([...eight.toReversed(), 'nine 8']);
  });

  test('two fan-outs take turns', async () => {
    const scene = new Scene(2);
    scene.fanOut('a', 20);
    scene.fanOut('b', 20);
    await turn();
    for (const name of ['a 19', 'a 18', 'b 19', 'a 17']) await scene.end(name);
    expect(scene.begun).toEqual(['a 19', 'a 18', 'b 19', 'a 17', 'b 18']);
  });

  test('the last step of a plan is written first', async () => {
    const scene = new Scene(2);
    scene.add('big', 'bulk', ...Array.from({ length: 20 }, (_, index) => `old ${index}`), 'new');
    await turn();
    expect(scene.begun).toEqual(['new']);
  });

  test('one slot is enough for both lanes', async () => {
    const scene = new Scene(1);
    scene.fanOut('big', 9);
    await turn();
    scene.add('small', 'fresh', 'edit');
    await scene.end('big 8');
    expect(scene.begun).toEqual(['big 8', 'edit']);
    await scene.clock.advance(500);
    await scene.end('edit');
    expect(scene.begun).toEqual(['big 8', 'edit', 'big 7']);
  });

  test.each([1, 32])('with %i slots, fresh writes without end do not starve bulk', async (slots) => {
    const scene = new Scene(slots);
    scene.fanOut('big', 40);
    await turn();
    for (let number = 0; number < 200; number++) {
      scene.add(`small ${number}`, 'fresh', `edit ${number}`);
      scene.add(`small too ${number}`, 'fresh', `another ${number}`);
      await turn();
      for (const name of [...scene.underWay.keys()].slice(0, 1)) await scene.end(name);
    }
    const bulk = scene.begun.slice(slots).filter((name) => name.startsWith('big'));
    expect(bulk.length).toBeGreaterThanOrEqual(2);
    expect(bulk.length).toBeLessThanOrEqual(10);
  });

  test('[Q4] nor do they under a rate limit, which fresh writes alone would use up', async () => {
    const scene = new Scene(32, 2);
    scene.fanOut('big', 40);
    for (let number = 0; number < 400; number++) {
      scene.add(`small ${number}`, 'fresh', `edit ${number}`);
      await turn();
      await scene.clock.advance(400);
      for (const name of [...scene.underWay.keys()]) await scene.end(name);
    }
    const bulk = scene.begun.filter((name) => name.startsWith('big'));
    expect(bulk.length).toBeGreaterThanOrEqual(8);
    expect(bulk.length).toBeLessThanOrEqual(12);
  });

  test('[Q4] what an outdated pass would have written uses up none of the rate', async () => {
    const scene = new Scene(32, 2);
    const outdated = scene.fanOut('old', 40);
    await turn();
    scene.outdated.add('old');
    scene.add('new', 'fresh', 'edit', 'edit too');
    await turn();
    expect([scene.begun, outdated.allBegun]).toEqual([['old 39', 'old 38'], false]);
    await scene.clock.advance(1000);
    expect(scene.begun).toEqual(['old 39', 'old 38', 'edit too', 'edit']);
    for (const name of [...scene.underWay.keys()]) await scene.end(name);
    await scene.clock.advance(1000);
    expect([scene.begun.length, outdated.allBegun, scene.queue.isIdle]).toEqual([4, true, true]);
  });

  test('a pass ends when all its writes have begun, not when they are answered', async () => {
    const scene = new Scene(4);
    const pass = scene.fanOut('big', 9);
    await turn();
    for (let number = 8; number > 1; number--) await scene.end(`big ${number}`);
    expect(pass.allBegun).toBe(true);
    expect(scene.underWay.size).toBe(2);
  });
});

describe('[R16] writes without an answer', () => {
  test('give up their slots to other bulk writes', async () => {
    const scene = new Scene(4);
    scene.fanOut('big', 20);
    await turn();
    for (const write of [...scene.underWay.values()]) scene.queue.lend(write);
    await turn();
    expect(scene.begun).toEqual(['big 19', 'big 18', 'big 17', 'big 16']);
  });

  test('keep their companion reserved, and sources that ask for it are queued again after the answer', async () => {
    const scene = new Scene(4);
    scene.add('home/source', 'fresh', 'hangs');
    await turn();
    const later = scene.add('other/source', 'fresh', 'hangs', 'other');
    await turn();
    expect(scene.begun).toEqual(['hangs', 'other']);
    expect([later.allBegun, scene.requeued]).toEqual([true, []]);
    await scene.end('hangs');
    expect(scene.requeued).toEqual(['other/source']);
  });

  test('[R1] lead to another pass of their source if it was planned meanwhile', async () => {
    const scene = new Scene(4);
    scene.add('home/source', 'fresh', 'a', 'b');
    await turn();
    scene.add('home/source', 'fresh');
    await turn();
    expect(scene.requeued).toEqual([]);
    await scene.end('b');
    expect(scene.requeued).toEqual(['home/source']);
  });
});

test('[C4] the queue is idle when nothing waits and nothing is under way', async () => {
  const scene = new Scene(1);
  expect(scene.queue.isIdle).toBe(true);
  scene.add('a', 'fresh', 'x', 'y');
  expect(scene.queue.isIdle).toBe(false);
  await turn();
  await scene.end('y');
  expect(scene.queue.isIdle).toBe(false);
  await scene.end('x');
  expect(scene.queue.isIdle).toBe(true);
});

test('[Q3] after a shutdown the queue hands out nothing more, and passes end', async () => {
  const scene = new Scene(2);
  const pass = scene.fanOut('big', 9);
  await turn();
  scene.queue.shutDown();
  await turn();
  expect(pass.allBegun).toBe(true);
  expect(scene.begun).toEqual(['big 8']);
  expect(await scene.queue.get()).toBeUndefined();
  expect(scene.clock.pendingTimers).toBe(0);
});
