import { describe, expect, it, onTestFinished } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { ChatPace, type Pace, UNPACED } from '../../src/notify/pace.ts';
import { type Attempt, SinkQueue } from '../../src/notify/sink-queue.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A running queue whose attempts are answered by the test. */
function open(options: { readonly concurrency?: number; readonly pace?: Pace } = {}) {
  const clock = new ManualClock();
  const open: { readonly uids: readonly string[]; readonly end: (result: Attempt) => void }[] = [];
  const begun: { readonly uids: readonly string[]; readonly at: number }[] = [];
  const queue = new SinkQueue({
    concurrency: 4,
    pace: UNPACED,
    ...options,
    attempt: (uids) =>
      new Promise((end) => {
        begun.push({ uids, at: clock.now() });
        open.push({ uids, end });
      }),
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  const running = queue.run(stop.signal);
  onTestFinished(() => stop.abort());
  const add = (uid: string, name = uid) => queue.add(uid, objectKey('shop', name), 1_000);
  /** Ends the attempt that began first. */
  const end = async (result: Attempt = { kind: 'done' }) => {
    open.shift()?.end(result);
    await clock.advance(0);
  };
  return { clock, queue, begun, add, end, stop, running, active: () => open.map(({ uids }) => uids) };
}

const FAILED: Attempt = { kind: 'failed', holdMs: 0 };

describe('the queue of a sink', () => {
  it('[N5] has four requests at a time, and one at a time for each source', async () => {
    const { clock, add, end, active } = open();
    for (const uid of ['a', 'b', 'c', 'd', 'e']) add(uid);
    add('a-again', 'a');
    await clock.advance(0);
    expect(active()).toEqual([['a'], ['b'], ['c'], ['d']]);
    await end();
    expect(active()).toEqual([['b'], ['c'], ['d'], ['e']]);
    await end();
    expect(active()).toEqual([['c'], ['d'], ['e'], ['a-again']]);
  });

  it('[N5] a second uid of a name waits for the first, also while that is repeated', async () => {
    const { clock, add, end, begun } = open();
    add('old', 'colors');
    await clock.advance(0);
    add('new', 'colors');
    await end(FAILED);
    await clock.advance(500);
    expect(begun).toHaveLength(1);
    await clock.advance(500);
    expect(begun.at(-1)).toEqual({ uids: ['old'], at: 1_000 });
    await end();
    expect(begun.at(-1)).toEqual({ uids: ['new'], at: 1_000 });
  });

  it('[N5] a turn does not look at all 50,000 sources that wait', async () => {
    const { clock, add, end, begun } = open({ concurrency: 1 });
    for (let uid = 0; uid < 50_000; uid++) add(`uid-${uid}`);
    await clock.advance(0);
    while (begun.length < 50_000) await end();
    expect(new Set(begun.flatMap(({ uids }) => uids)).size).toBe(50_000);
  });

  it('[N5] repeats after 1 s, doubling to 1 h', async () => {
    const { clock, add, end, begun } = open();
    add('a');
    await clock.advance(0);
    for (let count = 0; count < 16; count++) {
      await end(FAILED);
      await clock.advance(3_600_000);
    }
    const at = begun.map(({ at }) => at);
    const waits = at.slice(1).map((each, index) => each - (index === 0 ? 0 : 3_600_000 * index));
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits.slice(12)).toEqual([3_600_000, 3_600_000, 3_600_000, 3_600_000]);
  });

  it('[N5] what fails holds up nothing else; a Retry-After holds everything', async () => {
    const { clock, add, end, begun } = open({ concurrency: 1 });
    for (const uid of ['a', 'b', 'c']) add(uid);
    await clock.advance(0);
    await end(FAILED);
    expect(begun.at(-1)?.uids).toEqual(['b']);
    await end({ kind: 'failed', holdMs: 60_000 });
    await clock.advance(59_999);
    expect(begun).toHaveLength(2);
    await clock.advance(1);
    expect(begun.at(-1)).toEqual({ uids: ['c'], at: 60_000 });
  });

  it('[N5] of several Retry-Afters the longest counts', async () => {
    const { clock, add, end, begun } = open({ concurrency: 2 });
    for (const uid of ['a', 'b']) add(uid);
    await clock.advance(0);
    await end({ kind: 'failed', holdMs: 60_000 });
    await end({ kind: 'failed', holdMs: 5_000 });
    await clock.advance(59_999);
    expect(begun).toHaveLength(2);
    await clock.advance(1);
    expect(begun).toHaveLength(4);
  });

  it('[N5] held without end, it begins nothing more', async () => {
    const { clock, queue, add, end, begun } = open();
    add('a');
    await clock.advance(0);
    await end({ kind: 'failed', holdMs: Number.POSITIVE_INFINITY });
    add('b');
    await clock.advance(7_200_000);
    expect(begun).toHaveLength(1);
    expect(queue.oldest).toBe(1_000);
  });

  it('[N5] says since when the oldest waits, also while it is sent', async () => {
    const { clock, queue, add, end } = open();
    expect(queue.oldest).toBe(Number.POSITIVE_INFINITY);
    add('a');
    await clock.advance(0);
    expect(queue.oldest).toBe(1_000);
    await end();
    expect(queue.oldest).toBe(Number.POSITIVE_INFINITY);
  });

  it('[N5] a stop waits for what is in flight and leaves no timer', async () => {
    const { clock, add, end, stop, running } = open();
    add('a');
    add('b');
    await clock.advance(0);
    await end(FAILED);
    stop.abort();
    await end();
    await running;
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a chat', () => {
  it('[N7] gets one message a second, and one for all when more than ten wait', async () => {
    const { clock, add, end, begun } = open({ concurrency: 1, pace: new ChatPace() });
    for (const uid of ['a', 'b', 'c']) add(uid);
    await clock.advance(0);
    for (const _ of [1, 2, 3]) {
      await end();
      await clock.advance(1_000);
    }
    expect(begun.map(({ uids, at }) => [uids.length, at])).toEqual([
      [1, 0],
      [1, 1_000],
      [1, 2_000],
    ]);
    // Three were told of in the last 10 s, so eight are too many.
    for (let count = 0; count < 8; count++) add(`more-${count}`);
    await clock.advance(0);
    expect(begun.at(-1)?.uids).toHaveLength(8);
    await end();
    // The next burst is folded at the end of the window.
    for (let count = 0; count < 500; count++) add(`burst-${count}`);
    await clock.advance(9_999);
    expect(begun).toHaveLength(4);
    await clock.advance(1);
    expect(begun.at(-1)?.uids).toHaveLength(500);
  });
});
