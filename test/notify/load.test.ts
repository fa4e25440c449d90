import { expect, test } from 'vitest';
import { CrashWorld } from './crash-world.ts';

const SOURCES = 1_000;
const EDITS = 5;

test('[N5] of 1,000 sources edited at once, a slow sink gets the newest version of each, and no backlog', async () => {
  // Each request takes 1 s: four at a time, that is 250 s for all.
  const world = new CrashWorld(() => 0.5);
  world.pauseMs = 1_000;
  world.start();
  await world.clock.advance(30_000);
  const names = Array.from({ length: SOURCES }, (_, at) => `source-${at}`);
  for (let edit = 0; edit < EDITS; edit++) {
    for (const name of names) world.write(name);
    await world.clock.advance(10_000);
  }
  const waiting = Array.from(world.uids, (uid) => world.record(uid));
  const backlog = waiting.map((record) => record?.sinks?.['ops']?.pending?.length ?? 0);
  // What is being sent, and its successor.
  expect(Math.max(...backlog)).toBeLessThanOrEqual(2);
  await world.clock.advance(600_000);
  const last = new Map(world.webhook.map(({ uid, version }) => [uid, version]));
  for (const { metadata } of world.sources) {
    expect(last.get(metadata.uid)).toBe(world.record(metadata.uid)?.version);
  }
  expect(last.size).toBe(SOURCES);
  // Most versions were replaced before their turn came.
  expect(world.webhook.length).toBeLessThan(2 * SOURCES);
  // The chat was told of all of them in a few messages.
  expect(new Set(world.chat).size).toBe(SOURCES);
  expect(world.chatMessages).toBeLessThan(20);
});
