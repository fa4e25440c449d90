import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { shardOf } from '../../src/notify/state/stored-record.ts';
import { CrashWorld, type End } from './crash-world.ts';

/** https://github.com/bryc/code/blob/master/jshash/PRNGs.md#mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ANY_END: readonly End[] = ['crash', 'overlap', 'lost lease', 'stop'];
const NAMES = ['colors', 'fonts', 'logos', 'sounds', 'texts', 'units'];
const ROUNDS = 50;
/** How many seeds are played. */
const SEEDS = Number(process.env['HISTORIES'] ?? 12);

/** Fifty processes, one after the other, and one at the end that nothing disturbs. */
async function play(seed: number, ends: readonly End[], faults: number): Promise<CrashWorld> {
  const random = randomFrom(seed);
  const world = new CrashWorld(random);
  const oneOf = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  world.start();
  await world.clock.advance(30_000);
  world.faults = faults;
  world.lagMs = 1_000;
  for (let round = 0; round < ROUNDS; round++) {
    for (let edits = Math.floor(random() * 6); edits > 0; edits--) {
      if (random() < 0.2) world.delete(oneOf(NAMES));
      else world.write(oneOf(NAMES));
      await world.clock.advance(random() * 1_500);
    }
    await world.end(oneOf(ends));
    // What happens meanwhile is found out by the next process.
    if (random() < 0.5) world.write(oneOf(NAMES));
    if (random() < 0.2) world.delete(oneOf(NAMES));
    await world.clock.advance(random() * 500);
    world.start();
  }
  world.faults = 0;
  await world.clock.advance(3 * 3_600_000);
  return world;
}

/** Of the sources that are still there, those of which the chat has not heard. */
function unheard({ sources, chat }: CrashWorld): readonly string[] {
  return sources.map(({ metadata }) => metadata.uid).filter((uid) => !chat.includes(uid));
}

// 211 once found that nobody sent what a process before had stored at the last moment.
describe.each([...Array.from({ length: SEEDS }, (_, at) => at + 1), 211])(
  '50 ends of a process, seed %i',
  (seed) => {
    test('[N3] [N4] a webhook hears the last of each source at least once, by one id; a chat of each at most once', async () => {
      const world = await play(seed, ANY_END, 0.3);
      const { webhook, chat, uids, maybeLost, log } = world;

      // The webhook's picture of the world is right, if it goes by the sequence: the last request
      // of one process may arrive after the first of the next.
      for (const uid of uids) {
        const last = webhook
          .filter((each) => each.uid === uid)
          .sort((a, b) => a.seq - b.seq)
          .at(-1);
        const isThere = world.sources.some(({ metadata }) => metadata.uid === uid);
        const record = world.record(uid);
        if (isThere) expect([uid, last?.version]).toEqual([uid, record?.version]);
        // One that went before anybody was told of it need not be told of.
        if (last !== undefined) expect([uid, last.type === 'source.deleted']).toEqual([uid, !isThere]);
      }
      // The same thing has the same id, whichever process said it, and how often.
      const ids = new Map<string, Set<string>>();
      for (const { id, uid, type, version } of webhook) {
        const what = `${uid} ${type} ${version}`;
        ids.set(what, (ids.get(what) ?? new Set()).add(id));
      }
      expect([...ids].filter(([, each]) => each.size !== 1)).toEqual([]);
      expect(new Set(webhook.map(({ id }) => id)).size).toBe(ids.size);
      // There were repeats, or the test would prove nothing.
      expect(webhook.length).toBeGreaterThan(ids.size);

      // The chat heard of nobody twice.
      expect(chat.length).toBe(new Set(chat).size);
      // It heard of all but those that were on their way when something went wrong.
      expect(unheard(world).filter((uid) => !maybeLost.has(uid))).toEqual([]);
      expect(log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    });
  },
);

test('[N3] [N4] 200 crashes, counted: webhooks repeat what was not recorded, chats lose what was on its way', async () => {
  const total = { repeats: 0, lost: 0 };
  const gaps: Record<string, number> = {};
  for (let seed = 1; seed <= 200 / ROUNDS; seed++) {
    const world = await play(seed, ['crash'], 0);
    const { webhook, chat, maybeLost } = world;
    total.repeats += webhook.length - new Set(webhook.map(({ id }) => id)).size;
    expect(chat.length).toBe(new Set(chat).size);
    const lost = unheard(world);
    expect(lost.filter((uid) => !maybeLost.has(uid))).toEqual([]);
    // Of those that are there, the webhook was told the last version.
    for (const { metadata, data } of world.sources) {
      const versions = webhook.filter(({ uid }) => uid === metadata.uid).map(({ version }) => version);
      expect([data, versions]).toEqual([data, expect.arrayContaining([world.record(metadata.uid)?.version])]);
    }
    total.lost += lost.length;
    for (const [gap, count] of Object.entries(world.gaps)) gaps[gap] = (gaps[gap] ?? 0) + count;
  }
  // Crashes have hit each place where one can do harm, and done no more than that.
  expect(Object.entries(gaps).filter(([, count]) => count === 0)).toEqual([]);
  const { 'stored, not sent': stored = 0, 'sent, not recorded': sent = 0 } = gaps;
  const { 'claimed, not sent': claimed = 0, 'on its way to a chat': onItsWay = 0 } = gaps;
  expect(total.repeats).toBeGreaterThan(0);
  expect(total.repeats).toBeLessThanOrEqual(stored + sent);
  expect(total.lost).toBeGreaterThan(0);
  expect(total.lost).toBeLessThanOrEqual(claimed + onItsWay);
});

test('[N4] 50 stops lose nothing: a chat hears of each exactly once', async () => {
  const world = await play(5, ['stop'], 0);
  expect(world.chat.length).toBe(new Set(world.chat).size);
  expect(unheard(world)).toEqual([]);
});

/** Every sink has heard of each. */
async function withHundredSources(): Promise<CrashWorld> {
  const world = new CrashWorld(randomFrom(1));
  world.start();
  await world.clock.advance(30_000);
  for (let at = 0; at < 100; at++) world.write(`name-${at}`);
  await world.clock.advance(60_000);
  return world;
}

test('[N4] state that is deleted while the controller runs becomes the baseline again: nobody is told', async () => {
  const world = await withHundredSources();
  const { length } = world.webhook;
  expect(new Set(world.webhook.map(({ uid }) => uid)).size).toBe(100);
  world.deleteState();
  // Of one source in each ConfigMap, so that all of them are missed.
  for (let at = 0; at < 100; at++) world.write(`name-${at}`);
  await world.clock.advance(60_000);
  expect(world.webhook.slice(length)).toEqual([]);
  world.write('name-0');
  await world.clock.advance(60_000);
  expect(world.webhook.slice(length).map(({ type }) => type)).toEqual(['source.changed']);
  expect(world.chat).toHaveLength(100);
});

test('[N4] so does state that is deleted before a handover, whatever was written again, and is then new', async () => {
  const world = await withHundredSources();
  const { length } = world.webhook;
  world.deleteState();
  // Only one ConfigMap is missed and written again: the first.
  const first = world.sources.find(({ metadata }) => shardOf(metadata.uid) === 0)?.metadata.name ?? '';
  world.write(first);
  await world.clock.advance(60_000);
  await world.end('stop');
  world.start();
  await world.clock.advance(60_000);
  expect([world.webhook.slice(length), world.chat.length]).toEqual([[], 100]);
  // What comes while nobody looks is news again, whatever ConfigMap it belongs to.
  await world.end('stop');
  for (let at = 100; at < 200; at++) world.write(`name-${at}`);
  world.start();
  await world.clock.advance(60_000);
  expect(new Set(world.webhook.slice(length).map(({ type, uid }) => `${type} ${uid}`)).size).toBe(100);
  expect(world.chat).toHaveLength(200);
});

test('[N4] what is there when a first start ends is the baseline, what comes later is not, even the first of its ConfigMap', async () => {
  const world = new CrashWorld(randomFrom(1));
  world.start();
  await world.clock.advance(30_000);
  await world.end('stop');
  for (let at = 0; at < 100; at++) world.write(`name-${at}`);
  world.start();
  await world.clock.advance(60_000);
  expect([new Set(world.webhook.map(({ uid }) => uid)).size, world.chat.length]).toEqual([100, 100]);
});
