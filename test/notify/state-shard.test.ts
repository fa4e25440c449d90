import { expect, onTestFinished, test } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { ApiError, NetworkError } from '../../src/kube/errors.ts';
import { departed } from '../../src/notify/state/news.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { StateShard, type StateShardDeps } from '../../src/notify/state/state-shard.ts';
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

/** One of so many kilobytes; each letter has two. */
const recordOfSize = (kilobytes: number): SourceRecord => ({
  ...recordOf(0, 1),
  notify: 'é'.repeat(500 * kilobytes),
});

/** As somebody else. */
async function edit(api: MemoryApi, data: Record<string, string>): Promise<void> {
  const { resourceVersion } = (await api.get(KEY)).metadata;
  await api.patch(KEY, { metadata: { resourceVersion }, data });
}

const uidsIn = async (api: MemoryApi) => Object.keys((await api.get(KEY)).data ?? {});

/** One in memory, running, over `api`, with the clock and the log that it uses. */
async function open(api: StateShardDeps['api'] = new MemoryApi()) {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const shard = new StateShard(KEY, {
    ...{ api, clock, log, random: () => 0, isBusy: () => false },
    ...{ onStored: () => undefined, onReloaded: () => undefined, onForgotten: () => undefined },
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  await shard.load();
  void shard.run(stop.signal);
  return { shard, clock, log };
}

/** What a minute of changes costs etcd (bytes), which keeps the whole object for each write. */
async function minuteOfChanges(records: number): Promise<{ writes: number; bytes: number }> {
  const api = new MemoryApi();
  const { shard, clock } = await open(api);
  for (let name = 0; name < records; name++) shard.set(`uid-${name}`, recordOf(name, 1));
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
  const api = new MemoryApi();
  let answers: readonly ('lost' | 'lost, not applied')[] = [];
  const send = async <T>(write: () => Promise<T>): Promise<T> => {
    const [answer, ...others] = answers;
    answers = others;
    const result = answer === 'lost, not applied' ? undefined : await write();
    if (answer === undefined && result !== undefined) return result;
    throw new NetworkError('the connection was closed', { code: 'UND_ERR_SOCKET' });
  };
  const { shard, clock } = await open({
    get: (key) => api.get(key),
    create: (body) => send(() => api.create(body)),
    patch: (key, patch) => send(() => api.patch(key, patch)),
  });
  /** Stores a record; meanwhile it changes once more. */
  const store = async (seq: number, meanwhile: () => Promise<void> = async () => undefined) => {
    shard.set('uid', recordOf(0, seq));
    const stored = shard.stored('uid');
    await clock.advance(10);
    await meanwhile();
    await clock.advance(60_000);
    return stored;
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
  expect(await store(5, () => edit(api, other))).toBe('reloaded');
  // It changes something else.
  answers = ['lost'];
  expect(await store(10, () => edit(api, { another: 'note' }))).toBe('stored');
  // A write that was refused has stored nothing.
  await edit(api, { another: 'note 2' });
  expect(await store(11)).toBe('reloaded');
});

test('[N2] [N4] after another writer, what was not stored is forgotten', async () => {
  const api = new MemoryApi();
  const { shard, clock } = await open(api);
  shard.set('stored', recordOf(0, 1));
  await clock.advance(2_000);
  await edit(api, { another: JSON.stringify(recordOf(1, 1)) });
  let writes = 0;
  api.beforeWrite = async () => {
    writes += 1;
  };
  shard.set('new', recordOf(2, 1));
  await clock.advance(60_000);
  expect([...shard.records.keys()].sort()).toEqual(['another', 'stored']);
  // The one that met the conflict.
  expect(writes).toBe(1);
});

test('[N4] what does not fit is written when there is room, the oldest first, and what shrinks at once', async () => {
  const api = new MemoryApi();
  const { shard, clock, log } = await open(api);
  const stored: string[] = [];
  const put = (uid: string, kilobytes: number) => {
    shard.set(uid, recordOfSize(kilobytes));
    void shard.stored(uid).then((how) => stored.push(`${uid} ${how}`));
    return clock.advance(60_000);
  };
  await put('first', 400);
  await put('second', 400);
  await put('third', 300);
  await put('fourth', 300);
  expect([stored, await uidsIn(api)]).toEqual([
    ['first stored', 'second stored'],
    ['first', 'second'],
  ]);
  expect(shard.unwrittenSince).toBe(Date.parse('2026-01-01T00:02:00Z'));
  expect(log.told).toMatchObject([{ level: 'warn', err: new Error('it is full, and 1 sources wait') }]);
  await put('second', 100);
  expect(await uidsIn(api)).toEqual(['first', 'second', 'third']);
  await put('first', 200);
  expect(stored.slice(2)).toEqual(['second stored', 'third stored', 'first stored', 'fourth stored']);
  expect([shard.unwrittenSince, log.told.length]).toEqual([Number.POSITIVE_INFINITY, 2]);
});

test('[N4] who waits for everything waits while anything is left over', async () => {
  const { shard, clock } = await open();
  shard.set('large', recordOfSize(600));
  shard.set('too large', recordOfSize(600));
  let answer: string | undefined;
  void shard.stored().then((stored) => {
    answer = stored;
  });
  await clock.advance(60_000);
  expect([shard.isStored('large', 1), answer]).toEqual([true, undefined]);
  shard.set('large', recordOfSize(100));
  await clock.advance(60_000);
  expect(answer).toBe('stored');
});

test('[N4] a change whose write failed is still older than those that came meanwhile', async () => {
  const api = new MemoryApi();
  const { shard, clock } = await open(api);
  api.beforeWrite = async () => {
    api.beforeWrite = async () => undefined;
    shard.set('newer', recordOfSize(600));
    throw new ApiError('busy', { status: 500, reason: 'InternalError' });
  };
  shard.set('older', recordOfSize(600));
  await clock.advance(60_000);
  expect(await uidsIn(api)).toEqual(['older']);
});

test('[N4] a record that makes no sense takes room, too', async () => {
  const metadata = { namespace: 'home', name: 'notify-0', uid: 'uid', resourceVersion: '1' };
  const api = new MemoryApi([{ metadata, data: { malformed: 'x'.repeat(600_000) } }]);
  const { shard, clock } = await open(api);
  shard.set('another', recordOfSize(600));
  await clock.advance(60_000);
  expect(await uidsIn(api)).toEqual(['malformed']);
});

test('[N7] of the sources that went, the last 500 are remembered, whenever they changed', async () => {
  const api = new MemoryApi();
  const { shard, clock } = await open(api);
  const depart = (uid: string, record: SourceRecord) => {
    const told = { ...record, sinks: { chat: { created: true as const } } };
    shard.set(uid, departed(told, {}, [], clock.wallTime()));
    return clock.advance(1_000);
  };
  for (let name = 0; name < 500; name++) await depart(`uid-${name}`, recordOf(name, 1));
  await depart('unchanged', { ...recordOf(500, 1), at: '2025-01-01T00:00:00.000Z' });
  await clock.advance(60_000);
  expect(await uidsIn(api)).toHaveLength(500);
  expect([shard.records.has('uid-0'), shard.records.has('unchanged')]).toEqual([false, true]);
});
