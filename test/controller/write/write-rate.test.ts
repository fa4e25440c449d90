import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { companion, namespace, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const SECOND = 1000;
const STEP_MS = 50;
const COMPANIONS = 21;

/** Records when (ms on the clock) each write begins. */
function timesOf(api: MemoryApi, { clock }: Executor): readonly number[] {
  const times: number[] = [];
  api.beforeWrite = async () => void times.push(clock.now());
  return times;
}

async function play({ clock }: Executor, seconds: number): Promise<void> {
  for (let at = 0; at < seconds * SECOND; at += STEP_MS) {
    await turn();
    await clock.advance(STEP_MS);
  }
}

/** Two sources with a fan-out each, written by two workers: the time (ms) of each write. */
async function writeTimes(maxWritesPerSecond: number, seconds: number): Promise<readonly number[]> {
  const names = Array.from({ length: COMPANIONS }, (_, number) => `team-${number}`);
  const sources = ['home/colors', 'home/shapes'] as ObjectKey[];
  const objects = sources.map((key) => source(key, { 'target-namespaces': 'team-*' }));
  const api = new MemoryApi(objects);
  const view = viewOf(
    world(
      objects,
      ['home', ...names].map((name) => namespace(name)),
    ),
  );
  const executor = new Executor(api, view, { maxWritesPerSecond });
  const times = timesOf(api, executor);

  for (const key of sources) void executor.pass(key);
  await play(executor, seconds);
  expect(api.objects.size).toBe(objects.length + times.length);
  return times;
}

test.each([1, 4, 10])('[Q4] no second has more than %i writes, and all are made', async (limit) => {
  const seconds = Math.ceil((2 * COMPANIONS) / limit);
  const times = await writeTimes(limit, seconds);

  expect(times).toHaveLength(2 * COMPANIONS);
  const tooSoon = times.filter((time, index) => time - (times[index - limit] ?? -SECOND) < SECOND);
  expect(tooSoon).toEqual([]);
});

test('[Q4] an edit during a fan-out does not wait until all that it outdates would have been written', async () => {
  const names = Array.from({ length: COMPANIONS }, (_, number) => namespace(`team-${number}`));
  const seen = (sky: string) => {
    const colors = source('home/colors', { 'target-namespaces': 'team-*' }, { data: { sky } });
    return { colors, view: viewOf(world([colors], [namespace('home'), ...names])) };
  };
  const { colors, view } = seen('blue');
  const executor = new Executor(new MemoryApi([colors]), view, { maxWritesPerSecond: 2 });
  void executor.pass('home/colors' as ObjectKey);
  await play(executor, 1);
  expect(executor.writes.isIdle).toBe(false);
  Object.assign(view, { configMap: seen('grey').view.configMap });
  await play(executor, 1);
  expect(executor.writes.isIdle).toBe(true);
});

test('[Q4] [R12] the delete and the create of a replacement are two writes', async () => {
  const colors = source('home/colors');
  const frozen = companion(colors, 'home/colors-synced', { data: { sky: 'red' }, immutable: true });
  const api = new MemoryApi([colors, frozen]);
  const executor = new Executor(api, viewOf(world([colors, frozen])), { maxWritesPerSecond: 1 });
  const times = timesOf(api, executor);
  void executor.pass('home/colors' as ObjectKey);
  await play(executor, 3);
  expect(times).toEqual([0, SECOND]);
});

test('[Q4] the create of a replacement comes before writes that have not begun', async () => {
  const colors = source('home/colors');
  const frozen = companion(colors, 'home/colors-synced', { data: { sky: 'red' }, immutable: true });
  const shapes = source('home/shapes');
  const api = new MemoryApi([colors, frozen, shapes]);
  const executor = new Executor(api, viewOf(world([colors, frozen, shapes])), { maxWritesPerSecond: 1 });
  const written: string[] = [];
  api.beforeWrite = async (key) => void written.push(key);
  void executor.pass('home/colors' as ObjectKey);
  await play(executor, 0.1);
  void executor.pass('home/shapes' as ObjectKey);
  await play(executor, 3);
  expect(written).toEqual(['home/colors-synced', 'home/colors-synced', 'home/shapes-synced']);
});

test('[Q3] a stop does not wait for writes whose turn has not come', async () => {
  const objects = [source('home/colors'), source('home/shapes')];
  const api = new MemoryApi(objects);
  const executor = new Executor(api, viewOf(world(objects)), { maxWritesPerSecond: 1 });
  await executor.pass('home/colors' as ObjectKey);
  const second = executor.pass('home/shapes' as ObjectKey);
  await turn();
  executor.writes.shutDown();
  await second;
  expect(api.objects.size).toBe(3);
  expect(executor.clock.pendingTimers).toBe(0);
});

test('[Q4] a limit of 0 is no limit', async () => {
  expect(await writeTimes(0, 1)).toHaveLength(2 * COMPANIONS);
});
