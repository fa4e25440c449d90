import { describe, expect, test } from 'vitest';
import { CompanionMemory } from '../../../src/controller/memory/companion-memory.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { Step } from '../../../src/mirror/plan/step.ts';
import { configMap, observed } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const source = 'shop/colors' as ObjectKey;
const companion = 'team-a/colors-synced' as ObjectKey;
const other = 'team-b/colors-synced' as ObjectKey;
const transient = { kind: 'transient', quiet: false } as const;
/** A write for this version of the source. */
const intent = (sourceVersion: string, heals = true) => ({
  fingerprint: sourceVersion,
  sourceVersion,
  heals,
});

function step(
  of: ObjectKey,
  state: 'missing' | 'unwanted' | 'in sync' | 'conflict' | 'delayed' | 'held' | 'waiting',
): Step {
  const action = state === 'missing' ? 'create' : state === 'unwanted' ? 'delete' : 'none';
  return { action, state, companion: of, reason: '' } as Step;
}

function setUp(random = () => 0) {
  const clock = new ManualClock();
  const memory = new CompanionMemory(clock, random);
  memory.wrote(source, companion, 'v1');
  /** Somebody changes the companion, and it is healed. Returns whether that is a fight. */
  const undo = (sourceVersion = 'v1') => {
    memory.disturbed(source, companion);
    return memory.wrote(source, companion, sourceVersion);
  };
  return { clock, memory, undo };
}

/** Heals `times` times, as soon as allowed. Returns the time (s) that each heal waited. */
async function heal(
  { clock, memory, undo }: ReturnType<typeof setUp>,
  times: number,
): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) {
    const waitMs = memory.waitMs(source, companion, intent('v1'));
    waits.push(waitMs / 1000);
    await clock.advance(waitMs + 10);
    undo();
  }
  return waits;
}

test('[R14] after five heals in a minute the pauses double up to 60 s', async () => {
  expect(await heal(setUp(), 12)).toEqual([0, 0, 0, 0, 0, 0, 5, 10, 20, 40, 60, 60]);
});

test('[R14] the sixth heal is a fight', async () => {
  const { clock, undo } = setUp();
  const verdicts: boolean[] = [];
  for (let time = 0; time < 6; time++) {
    await clock.advance(100);
    verdicts.push(undo());
  }
  expect(verdicts).toEqual([false, false, false, false, false, true]);
});

test('[R14] fewer than five heals a minute are no fight', async () => {
  const { clock, undo } = setUp();
  for (let time = 0; time < 20; time++) {
    await clock.advance(13_000);
    expect(undo()).toBe(false);
  }
});

test('[R14] writing a new version of the source is no heal, and does not wait', async () => {
  const parts = setUp();
  await heal(parts, 8);
  expect(parts.memory.waitMs(source, companion, intent('v1'))).toBeGreaterThan(0);
  expect(parts.memory.waitMs(source, companion, intent('v2'))).toBe(0);
  for (let version = 2; version < 30; version++) expect(parts.undo(`v${version}`)).toBe(false);
});

test('[R14] a fight over a new version is noticed, too', async () => {
  const parts = setUp();
  await heal(parts, 8);
  const verdicts = Array.from({ length: 7 }, () => parts.undo('v2'));
  expect(verdicts).toEqual([false, false, false, false, false, false, true]);
});

test('[R14] writing what nobody else has changed is no heal', async () => {
  const { clock, memory, undo } = setUp();
  undo();
  for (let time = 0; time < 20; time++) {
    await clock.advance(100);
    expect(memory.wrote(source, companion, 'v1')).toBe(false);
  }
});

test('[R14] another change during a pause does not end the pause', async () => {
  const parts = setUp();
  await heal(parts, 6);
  await parts.clock.advance(1_000);
  parts.memory.disturbed(source, companion);
  expect(parts.memory.waitMs(source, companion, intent('v1'))).toBe(4_000);
});

test('[R14] heals are forgotten after two minutes without one', async () => {
  const parts = setUp();
  await heal(parts, 9);
  await parts.clock.advance(120_000);
  expect(parts.undo()).toBe(false);
  expect(parts.memory.waitMs(source, companion, intent('v1'))).toBe(0);
});

test('[R14] a fight is forgotten when the controller deletes the companion', async () => {
  const { clock, memory, undo } = setUp();
  for (let time = 0; time < 20; time++) {
    await clock.advance(100);
    expect(undo()).toBe(false);
    memory.forget(source, companion);
  }
});

test('[R14] the sweep of old heals keeps a fight', async () => {
  const parts = setUp();
  const stop = new AbortController();
  const running = parts.memory.run(stop.signal, () => undefined);
  expect(await heal(parts, 12)).toEqual([0, 0, 0, 0, 0, 0, 5, 10, 20, 40, 60, 60]);
  stop.abort();
  await running;
});

test('[R14] a fight over one companion does not affect another', async () => {
  const parts = setUp();
  parts.memory.wrote(source, other, 'v1');
  await heal(parts, 7);
  expect(parts.memory.waitMs(source, companion, intent('v1'))).toBeGreaterThan(0);
  expect(parts.memory.waitMs(source, other, intent('v1'))).toBe(0);
  parts.memory.disturbed(source, other);
  expect(parts.memory.wrote(source, other, 'v1')).toBe(false);
});

describe('[R15] transient failures', () => {
  test('double from 50 ms to 30 s; a success resets them', () => {
    const { memory } = setUp();
    const fail = () => memory.failed(source, companion, 'v1', transient);
    const delays = Array.from({ length: 12 }, fail);
    expect(delays.slice(0, 4)).toEqual([50, 100, 200, 400]);
    expect(delays.slice(-2)).toEqual([30_000, 30_000]);
    memory.succeeded(source, companion);
    expect(fail()).toBe(50);
  });

  test('are spread by jitter, which only shortens the wait', () => {
    const { memory } = setUp(() => 0.999999);
    expect(memory.failed(source, companion, 'v1', transient)).toBeCloseTo(25);
  });

  test('wait as long as the server asks, if that is longer', () => {
    const { memory } = setUp();
    const asked = { kind: 'transient', quiet: false, retryAfterMs: 20_000 } as const;
    expect(memory.failed(source, companion, 'v1', asked)).toBe(20_000);
  });

  test('delay neither another version nor another companion', async () => {
    const { clock, memory } = setUp();
    memory.failed(source, companion, 'v1', transient);
    await clock.advance(30);
    expect(memory.waitMs(source, companion, intent('v1'))).toBe(20);
    expect(memory.waitMs(source, companion, intent('v2'))).toBe(0);
    expect(memory.waitMs(source, other, intent('v1'))).toBe(0);
    await clock.advance(20);
    expect(memory.waitMs(source, companion, intent('v1'))).toBe(0);
  });
});

test('[R6] a blocked name is checked again within 30 s, whatever the jitter', () => {
  for (const random of [() => 0, () => 0.999999]) {
    const { memory } = setUp(random);
    for (let times = 0; times < 5; times++) {
      const delay = memory.failed(source, companion, 'v1', { kind: 'blocked', quiet: false });
      expect(delay).toBeGreaterThan(15_000);
      expect(delay).toBeLessThan(29_000);
    }
  }
});

test.each([
  ['a different object has it', false, true],
  ['its revision is only being deleted', true, false],
])('[D4] [O1] whether a name is taken if %s', (_, quiet, isTaken) => {
  const { memory } = setUp();
  memory.failed(source, other, 'v1', { kind: 'blocked', quiet });
  expect(memory.isBlocked(source, other)).toBe(isTaken);
});

test('[R13] an invalid write is retried after 30 s, a hopeless one only after a change', () => {
  const { memory } = setUp();
  expect(memory.failed(source, companion, 'v1', { kind: 'invalid', quiet: false })).toBe(30_000);
  expect(memory.failed(source, other, 'v1', { kind: 'hopeless', quiet: false })).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(memory.waitMs(source, other, intent('v1'))).toBe(Number.POSITIVE_INFINITY);
  expect(memory.waitMs(source, other, intent('v2'))).toBe(0);
});

test('[R9] failures are forgotten for companions that are no longer planned or need no write', () => {
  const { memory } = setUp();
  const third = 'team-c/colors-synced' as ObjectKey;
  for (const key of [source, companion, other, third]) memory.failed(source, key, 'v1', transient);
  const unplanned: ObjectKey[] = [];
  const steps = [step(companion, 'missing'), step(other, 'in sync')];
  memory.keepOnly(
    source,
    steps,
    () => true,
    (key) => unplanned.push(key),
  );
  expect(unplanned).toEqual([third]);
  const failures = [source, companion, other, third].map((key) => memory.failures(source, key));
  expect(failures).toEqual([1, 1, 0, 0]);
});

test.each([
  ['in sync', true, 'forgotten'],
  ['in sync', false, 'remembered'],
  ['missing', true, 'remembered'],
  ['conflict', true, 'remembered'],
] as const)('[R12] of a companion %s (there: %s), what was replaced is %s', (state, isThere, what) => {
  const { memory } = setUp();
  const actual = observed(configMap(companion));
  memory.replaces(source, actual);
  memory.keepOnly(
    source,
    [step(companion, state)],
    () => isThere,
    () => undefined,
  );
  expect(memory.replaced(source, companion)).toBe(what === 'remembered' ? actual : undefined);
});

test('[W4] nothing is remembered of a companion without failures, heals and problems', () => {
  const { clock, memory } = setUp();
  memory.failed(source, companion, 'v1', transient);
  memory.setProblems(source, companion, [{ kind: undefined, message: '?', fields: {} }]);
  memory.delayed(source, other, clock.now());
  expect(memory.hasAny(source)).toBe(true);
  memory.setProblems(source, companion, []);
  memory.wrote(source, companion, 'v1');
  memory.keepOnly(
    source,
    [step(other, 'in sync')],
    () => true,
    () => undefined,
  );
  expect(memory.hasAny(source)).toBe(false);
});

describe('[D3] since when nobody wants a companion', () => {
  test.for([
    ['is remembered while its deletion is delayed', 'delayed', 5000],
    ['is remembered until the deletion succeeds', 'unwanted', 5000],
    ['is remembered while the brake holds it, which may not be marked yet', 'held', 5000],
    ['is forgotten when it is wanted again', 'in sync', 0],
    ['is forgotten when it cannot be deleted anyway', 'waiting', 0],
  ] as const)('%s', async ([, state, ms]) => {
    const { clock, memory } = setUp();
    memory.delayed(source, companion, clock.now());
    await clock.advance(5000);
    memory.keepOnly(
      source,
      [step(companion, state)],
      () => true,
      () => undefined,
    );
    memory.delayed(source, companion, clock.now());
    expect(memory.unwantedMs(source, companion)).toBe(ms);
  });

  test('is forgotten when another process has written meanwhile', async () => {
    const { clock, memory } = setUp();
    memory.delayed(source, companion, clock.now());
    await clock.advance(5000);
    memory.forgetWrites();
    expect(memory.unwantedMs(source, companion)).toBe(0);
  });
});

test('[C4] unfinished sources are those with failures, but for conflicts', () => {
  const { memory } = setUp();
  memory.failed(source, other, 'v1', { kind: 'blocked', quiet: false });
  expect([...memory.unfinished()]).toEqual([]);
  for (let times = 0; times < 3; times++) memory.failed(source, companion, 'v1', transient);
  expect([...memory.unfinished()]).toEqual([[source, 3]]);
  memory.failed(source, companion, 'v1', { kind: 'invalid', quiet: false });
  expect([...memory.unfinished()]).toEqual([[source, Number.POSITIVE_INFINITY]]);
});

test('[R14] the end of a fight is reported once', async () => {
  const parts = setUp();
  const stop = new AbortController();
  const peace: string[] = [];
  const running = parts.memory.run(stop.signal, (_, key) => peace.push(key));
  await heal(parts, 7);
  expect(parts.memory.isFoughtOver(source, companion)).toBe(true);
  await parts.clock.advance(300_000);
  expect(peace).toEqual([companion]);
  expect(parts.memory.isFoughtOver(source, companion)).toBe(false);
  stop.abort();
  await running;
});
