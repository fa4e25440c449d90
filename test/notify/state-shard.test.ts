import { expect, onTestFinished, test } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { NetworkError } from '../../src/kube/errors.ts';
import { departed } from '../../src/notify/state/news.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { StateShard } from '../../src/notify/state/state-shard.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const KEY = objectKey('home', 'notify-0');

const recordOf = (name: number, seq: number): SourceRecord => ({
  ...{ ref: objectKey('shop', `source-${name}`), seq, version: 'a'.repeat(64), resourceVersion: '1' },
  ...{
    at: '2026-01-01T00:00:00.000Z',
    sinks: { ops: { version: 'aaaaaaaa', at: '2026-01-01T00:00:00.000Z' } },
  },
});

/** One in memory, running. `log` and `api` are what it uses. */
async function open() {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const api = new MemoryApi();
  const deps = { api, clock, log, random: () => 0, isBusy: () => false };
  const shard = new StateShard(KEY, {
    ...deps,
    onStored: () => undefined,
    onReloaded: () => undefined,
    onForgotten: () => undefined,
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await shard.load();
  void shard.run(stop.signal);
  return { shard, clock, log, api };
}

/** What a minute of changes costs etcd (bytes), which keeps the whole object for each write. */
async function minuteOfChanges(records: number): Promise<{ writes: number; bytes: number }> {
  const clock = new ManualClock();
  const api = new MemoryApi();
  const deps = { api, clock, log: new RecordedLog(), random: () => 0, isBusy: () => false };
  const shard = new StateShard(KEY, {
    ...deps,
    onStored: () => undefined,
    onReloaded: () => undefined,
    onForgotten: () => undefined,
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await shard.load();
  for (let name = 0; name < records; name++) shard.set(`uid-${name}`, recordOf(name, 1));
  void shard.run(stop.signal);
  await clock.advance(60_000);
  const cost = { writes: 0, bytes: 0 };
  api.beforeWrite = async () => {
    cost.writes += 1;
    cost.bytes += Object.values((await api.get(KEY)).data ?? {}).join('').length;
  };
  for (let seq = 2; seq < 602; seq++) {
    shard.set('uid-0', recordOf(0, seq));
    await clock.advance(100);
  }
  await clock.advance(60_000);
  expect(shard.isStored('uid-0', 601)).toBe(true);
  return cost;
}

test('[N4] a small ConfigMap is written at most once a second', async () => {
  const { writes } = await minuteOfChanges(10);
  expect(writes).toBeGreaterThan(50);
  expect(writes).toBeLessThan(65);
});

test('[N4] a large one less often, so that the history in etcd stays small', async () => {
  const { writes, bytes } = await minuteOfChanges(3_000);
  expect(writes).toBeGreaterThan(2);
  // One at the beginning, then 64 KiB a second, the last some 12 s after the last change.
  expect(bytes - bytes / writes).toBeLessThan(73 * 65_536);
});

test('[N4] a write whose answer is lost has stored what is there, unless somebody else has changed it', async () => {
  const clock = new ManualClock();
  const api = new MemoryApi();
  let answers: readonly ('lost' | 'lost, not applied')[] = [];
  const send = async <T>(write: () => Promise<T>): Promise<T> => {
    const [answer, ...others] = answers;
    answers = others;
    const result = answer === 'lost, not applied' ? undefined : await write();
    if (answer === undefined && result !== undefined) return result;
    throw new NetworkError('the connection was closed', { code: 'UND_ERR_SOCKET' });
  };
  const shard = new StateShard(KEY, {
    ...{ clock, log: new RecordedLog(), random: () => 0, isBusy: () => false },
    ...{ onStored: () => undefined, onReloaded: () => undefined, onForgotten: () => undefined },
    api: {
      get: (key) => api.get(key),
      create: (body) => send(() => api.create(body)),
      patch: (key, patch) => send(() => api.patch(key, patch)),
    },
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await shard.load();
  void shard.run(stop.signal);
  /** Stores a record; meanwhile it changes once more. */
  const store = async (seq: number, meanwhile: () => Promise<void> = async () => undefined) => {
    shard.set('uid', recordOf(0, seq));
    const stored = shard.stored('uid');
    await clock.advance(10);
    await meanwhile();
    await clock.advance(60_000);
    return stored;
  };
  const edit = async (data: Record<string, string>) => {
    const { resourceVersion } = (await api.get(KEY)).metadata;
    await api.patch(KEY, { metadata: { resourceVersion }, data });
  };

  expect(await store(1)).toBe('stored');
  answers = ['lost'];
  expect(await store(2)).toBe('stored');
  expect(shard.records.get('uid')?.seq).toBe(2);
  // The one after is not even applied, and holds a later record.
  answers = ['lost', 'lost, not applied'];
  expect(await store(3, async () => shard.set('uid', recordOf(0, 4)))).toBe('stored');
  expect(shard.records.get('uid')?.seq).toBe(3);
  answers = ['lost'];
  const other = { uid: JSON.stringify(recordOf(0, 9)) };
  expect(await store(5, () => edit(other))).toBe('reloaded');
  // It changes something else.
  answers = ['lost'];
  expect(await store(10, () => edit({ another: 'note' }))).toBe('stored');
  // A write that was refused has stored nothing.
  await edit({ another: 'note 2' });
  expect(await store(11)).toBe('reloaded');
});

test('[N4] what does not fit is written when there is room, the oldest first, and what shrinks at once', async () => {
  const { shard, clock, log, api } = await open();
  const stored: string[] = [];
  /** Its record takes so many kilobytes; each letter has two. */
  const put = (uid: string, kilobytes: number) => {
    shard.set(uid, { ...recordOf(0, 1), notify: 'é'.repeat(500 * kilobytes) });
    void shard.stored(uid).then((how) => stored.push(`${uid} ${how}`));
    return clock.advance(60_000);
  };
  const uids = async () => Object.keys((await api.get(KEY)).data ?? {});
  await put('first', 400);
  await put('second', 400);
  await put('third', 300);
  await put('fourth', 300);
  expect([stored, await uids()]).toEqual([
    ['first stored', 'second stored'],
    ['first', 'second'],
  ]);
  expect(shard.unwrittenSince).toBe(Date.parse('2026-01-01T00:02:00Z'));
  expect(log.told).toMatchObject([{ level: 'warn', err: new Error('it is full, and 1 sources wait') }]);
  await put('second', 100);
  expect(await uids()).toEqual(['first', 'second', 'third']);
  await put('first', 200);
  expect(stored.slice(2)).toEqual(['second stored', 'third stored', 'first stored', 'fourth stored']);
  expect([shard.unwrittenSince, log.told.length]).toEqual([Number.POSITIVE_INFINITY, 2]);
});

test('[N7] of the sources that went, the last 500 are remembered, whenever they changed', async () => {
  const { shard, clock, api } = await open();
  const depart = (uid: string, record: SourceRecord) => {
    const told = { ...record, sinks: { chat: { created: true as const } } };
    shard.set(uid, departed(told, {}, [], clock.wallTime()));
    return clock.advance(1_000);
  };
  for (let name = 0; name < 500; name++) await depart(`uid-${name}`, recordOf(name, 1));
  await depart('unchanged', { ...recordOf(500, 1), at: '2025-01-01T00:00:00.000Z' });
  await clock.advance(60_000);
  expect(Object.keys((await api.get(KEY)).data ?? {})).toHaveLength(500);
  expect([shard.records.has('uid-0'), shard.records.has('unchanged')]).toEqual([false, true]);
});
