import { describe, expect, it, onTestFinished } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import type { Content } from '../../src/mirror/observe/content.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import type { Message, Outcome } from '../../src/notify/delivery/delivery.ts';
import { type Result, Sender } from '../../src/notify/sender.ts';
import type { Notification, SourceRecord } from '../../src/notify/state/record.ts';
import type { Stored } from '../../src/notify/state/waiter.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const REF = objectKey('shop', 'colors');
const DAY_MS = 24 * 3_600_000;
const ACCEPTED: Outcome = { kind: 'accepted' };
const failed = (mayHaveArrived: boolean): Outcome => ({
  ...{ kind: 'failed', reason: 'it answered 500', mayHaveArrived, retryAfterMs: undefined },
});

interface Options {
  readonly sink?: object;
  readonly outcomes?: Outcome[];
  readonly content?: () => Promise<Content | 'outdated' | undefined>;
  /** Default 0. */
  readonly takesMs?: number;
}

/** A running sender of one sink, and what the receiver got. Records are stored at once. */
function open({ sink: fields = {}, outcomes = [], content, takesMs = 0 }: Options = {}) {
  const config = JSON.stringify({ sinks: [{ name: 'ops', type: 'webhook', url: 'https://ops', ...fields }] });
  const sinks = parseNotifyConfig(config, '/');
  const [sink] = sinks.ok ? sinks.value : [];
  if (sink === undefined) throw new Error('no sink');
  const clock = new ManualClock();
  const log = new RecordedLog();
  const records = new Map<string, SourceRecord>();
  const sent: Message[] = [];
  const sentAt: number[] = [];
  const counted: Result[] = [];
  const reported: string[] = [];
  const state = {
    get: (uid: string) => records.get(uid),
    set: (uid: string, record: SourceRecord) => void records.set(uid, record),
    isStored: () => true,
    stored: async (_uid: string): Promise<Stored> => 'stored',
  };
  const sender = new Sender({
    ...{ sink, state, clock, log, random: () => 0, cluster: () => 'a-cluster' },
    content: content ?? (async () => undefined),
    deliver: async (_, message, signal) => {
      sent.push(message);
      sentAt.push(clock.now());
      if (takesMs > 0) await sleep(clock, takesMs, signal);
      return signal.aborted ? failed(true) : (outcomes.shift() ?? ACCEPTED);
    },
    count: (result) => void counted.push(result),
    report: (uid, _, reason) => void reported.push(`${uid} ${reason}`),
  });
  const stop = new AbortController();
  const running = sender.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  /** Makes a notification wait. */
  const add = async (uid = 'uid', type: Notification['type'] = 'source.created') => {
    const at = clock.wallTime().toISOString();
    const notification: Notification = { type, seq: 2, version: 'v', at };
    const base: SourceRecord = { ref: REF, seq: 2, version: 'v', resourceVersion: '1', at };
    records.set(uid, { ...base, sinks: { ops: { pending: [notification] } } });
    sender.offer(uid);
    await clock.advance(0);
  };
  const pending = () => records.get('uid')?.sinks?.['ops']?.pending ?? [];
  return {
    clock,
    log,
    state,
    sender,
    sent,
    sentAt,
    counted,
    reported,
    add,
    pending,
    stop: () => stop.abort(),
  };
}

const CHAT = { type: 'slack' };

describe('a sender', () => {
  it('[N4] remembers what it has sent, and when', async () => {
    const { add, sent, counted, pending, state } = open();
    await add();
    expect([sent.length, counted, pending()]).toEqual([1, ['sent'], []]);
    expect(state.get('uid')?.sinks?.['ops']).toEqual({ version: 'v', at: '2026-01-01T00:00:00.000Z' });
  });

  it('[N4] sends nothing that is not stored', async () => {
    const { add, sent, state, clock, sender } = open();
    state.isStored = () => false;
    await add();
    await clock.advance(DAY_MS);
    expect(sent).toEqual([]);
    state.isStored = () => true;
    sender.offer('uid');
    await clock.advance(0);
    expect(sent).toHaveLength(1);
  });

  it('[N5] repeats what failed, whether or not it may have arrived', async () => {
    const { clock, add, sent, counted } = open({ outcomes: [failed(true), failed(false)] });
    await add();
    await clock.advance(3_000);
    expect([sent.length, counted]).toEqual([3, ['failed', 'failed', 'sent']]);
  });

  it('[N5] drops a notification after three days, and says so on the source', async () => {
    const { clock, add, sent, counted, reported, pending } = open({
      outcomes: Array.from({ length: 1_000 }, () => failed(false)),
    });
    await add();
    await clock.advance(3 * DAY_MS - 1);
    expect([pending().length, reported]).toEqual([1, []]);
    await clock.advance(3_600_000);
    expect([pending().length, reported, counted.at(-1)]).toEqual([0, ['uid NotificationDropped'], 'dropped']);
    const attempts = sent.length;
    await clock.advance(DAY_MS);
    expect(sent.length).toBe(attempts);
    // 1 s to 1 h doubling, then each hour.
    expect(attempts).toBeLessThan(90);
  });

  it('[N5] after 410 sends nothing more, keeps what waits, and says so on the source', async () => {
    const { clock, add, sent, reported, pending, log } = open({ outcomes: [{ kind: 'gone' }] });
    await add();
    await add('another');
    await clock.advance(DAY_MS);
    expect([sent.length, reported, pending().length]).toEqual([1, ['uid SinkGone'], 1]);
    expect(log.told.at(-1)).toMatchObject({ level: 'error', sink: 'ops' });
  });

  it('[N5] waits for as long as Retry-After says, at most an hour, with everything', async () => {
    const tooMany = (retryAfterMs: number): Outcome => ({
      ...{ kind: 'failed', reason: 'it answered 429', mayHaveArrived: false, retryAfterMs },
    });
    const { clock, add, sent } = open({ outcomes: [tooMany(60_000), tooMany(DAY_MS)] });
    await add();
    await add('another');
    await clock.advance(59_999);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    const before = sent.length;
    await clock.advance(3_599_999);
    expect(sent.length).toBe(before);
    await clock.advance(1);
    expect(sent.length).toBeGreaterThan(before);
  });

  it('[N5] logs a failing sink once, and when it takes notifications again', async () => {
    const { clock, add, log } = open({ outcomes: [failed(true), failed(true)] });
    await add();
    await clock.advance(10_000);
    expect(log.told.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'notification not accepted'],
      ['info', 'resolved'],
    ]);
  });

  it('[N4] [N7] a chat gets again what it has refused, and never what it may have shown', async () => {
    const refused = open({ sink: CHAT, outcomes: [failed(false)] });
    await refused.add();
    await refused.clock.advance(5_000);
    expect([refused.sent.length, refused.counted]).toEqual([2, ['failed', 'sent']]);
    const unclear = open({ sink: CHAT, outcomes: [failed(true)] });
    await unclear.add();
    await unclear.clock.advance(DAY_MS);
    expect([unclear.sent.length, unclear.counted, unclear.pending()]).toEqual([1, ['dropped'], []]);
    expect(unclear.state.get('uid')?.sinks?.['ops']?.at).toBeUndefined();
  });

  it('[N4] what at most once promises is stored before it is sent', async () => {
    const { clock, add, sent, state, pending } = open({ sink: CHAT });
    let store: (stored: 'stored') => void = () => undefined;
    state.stored = () =>
      new Promise((resolve) => {
        store = resolve;
      });
    await add();
    expect([pending(), sent]).toEqual([[], []]);
    store('stored');
    await clock.advance(0);
    expect(sent).toHaveLength(1);
  });

  it('[N7] messages of a chat are a second apart, even if it takes a second to store that one is sent', async () => {
    const { clock, add, sentAt, state } = open({ sink: CHAT });
    state.stored = async (uid) => {
      if (uid === 'slow') await sleep(clock, 1_000, new AbortController().signal);
      return 'stored';
    };
    const since = clock.now();
    await add('slow');
    await add('quick');
    await clock.advance(10_000);
    expect(sentAt.map((at) => at - since)).toEqual([1_000, 2_000]);
  });

  it('[N4] a stop lets a request in flight end, for 2 s', async () => {
    for (const [takesMs, counts] of [
      [1_500, ['sent']],
      [2_500, ['dropped']],
    ] as const) {
      const room = open({ sink: CHAT, takesMs });
      await room.add();
      room.stop();
      await room.clock.advance(3_000);
      expect(room.counted).toEqual(counts);
    }
  });

  it('[N2] full content is that of the version; gone, it is left out; unreadable, it is tried again', async () => {
    const content = { data: { sky: 'blue' }, binaryData: {} };
    const answers: (() => Promise<Content | undefined>)[] = [
      () => Promise.reject(new Error('timeout')),
      async () => content,
      async () => undefined,
    ];
    const read = () => (answers.shift() ?? (async () => undefined))();
    const { clock, add, sent } = open({ sink: { content: 'full' }, content: read });
    await add();
    expect(sent).toEqual([]);
    await clock.advance(1_000);
    expect(sent.map((message) => message.content)).toEqual([content]);
    await add();
    expect(sent.at(-1)?.content).toBe('omitted');
  });

  it('[N2] [N5] a source that goes on changing is no failure of the sink, and does not wait longer for it', async () => {
    let isQuiet = false;
    const content = async () => (isQuiet ? { data: { sky: 'blue' }, binaryData: {} } : 'outdated');
    const { clock, add, sent, counted, log } = open({ sink: { content: 'full' }, content });
    await add();
    await clock.advance(600_000);
    expect([sent.length, counted, log.told]).toEqual([0, [], []]);
    isQuiet = true;
    await clock.advance(1_000);
    expect(sent).toHaveLength(1);
  });

  it('[N2] what is told of companions does not wait for content that the source no longer has', async () => {
    const content = async () => 'outdated' as const;
    const { add, sent, pending } = open({ sink: { content: 'full' }, content });
    await add('uid', 'companions.failing');
    expect([sent.map((message) => message.content), pending()]).toEqual([['omitted'], []]);
  });
});
