import { expect, test } from 'vitest';
import { Fights } from '../../src/controller/fights.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { ManualClock } from '../support/manual-clock.ts';

const companion = 'team-a/colors-synced' as ObjectKey;

function setUp() {
  const clock = new ManualClock();
  const fights = new Fights(clock);
  fights.wrote(companion, 'v1');
  /** Somebody changes the companion, and it is written anew; whether that is called a fight. */
  const undo = (sourceVersion = 'v1') => {
    fights.disturbed(companion);
    return fights.wrote(companion, sourceVersion);
  };
  return { clock, fights, undo };
}

/** Heals as soon as it is allowed, `times` times; what each had to wait, seconds. */
async function heal(
  { clock, fights, undo }: ReturnType<typeof setUp>,
  times: number,
): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) {
    const waitMs = fights.waitMs(companion, 'v1');
    waits.push(waitMs / 1000);
    await clock.advance(waitMs + 10);
    undo();
  }
  return waits;
}

test('[R14] five heals in a minute are free; then the pauses double, and stay at 60 s', async () => {
  expect(await heal(setUp(), 12)).toEqual([0, 0, 0, 0, 0, 0, 5, 10, 20, 40, 60, 60]);
});

test('[R14] the sixth heal is the first to be called a fight', async () => {
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

test('[R14] a new version of the source is no heal, and does not wait', async () => {
  const parts = setUp();
  await heal(parts, 8);
  expect(parts.fights.waitMs(companion, 'v1')).toBeGreaterThan(0);
  expect(parts.fights.waitMs(companion, 'v2')).toBe(0);
  for (let version = 2; version < 30; version++) expect(parts.undo(`v${version}`)).toBe(false);
});

test('[R14] a fight over a new version is noticed as the one before was', async () => {
  const parts = setUp();
  await heal(parts, 8);
  const verdicts = Array.from({ length: 7 }, () => parts.undo('v2'));
  expect(verdicts).toEqual([false, false, false, false, false, false, true]);
});

test('[R14] writing again what nobody else has touched is no heal', async () => {
  const { clock, fights, undo } = setUp();
  undo();
  for (let time = 0; time < 20; time++) {
    await clock.advance(100);
    expect(fights.wrote(companion, 'v1')).toBe(false);
  }
});

test('[R14] a change that asks for a heal while it must wait does not end the wait', async () => {
  const parts = setUp();
  await heal(parts, 6);
  await parts.clock.advance(1_000);
  parts.fights.disturbed(companion);
  expect(parts.fights.waitMs(companion, 'v1')).toBe(4_000);
});

test('[R14] two minutes of peace are forgiven', async () => {
  const parts = setUp();
  await heal(parts, 9);
  await parts.clock.advance(120_000);
  expect(parts.undo()).toBe(false);
  expect(parts.fights.waitMs(companion, 'v1')).toBe(0);
});

test('[R14] a fight is forgotten when we delete the companion ourselves', async () => {
  const { clock, fights, undo } = setUp();
  for (let time = 0; time < 20; time++) {
    await clock.advance(100);
    expect(undo()).toBe(false);
    fights.deleted(companion);
  }
});

test('[R14] what runs to forget what is long past forgets no fight', async () => {
  const parts = setUp();
  const stop = new AbortController();
  const running = parts.fights.run(stop.signal);
  expect(await heal(parts, 12)).toEqual([0, 0, 0, 0, 0, 0, 5, 10, 20, 40, 60, 60]);
  stop.abort();
  await running;
});

test('[R14] one companion’s fight is not another’s', async () => {
  const parts = setUp();
  const other = 'team-b/colors-synced' as ObjectKey;
  parts.fights.wrote(other, 'v1');
  await heal(parts, 7);
  expect(parts.fights.waitMs(companion, 'v1')).toBeGreaterThan(0);
  expect(parts.fights.waitMs(other, 'v1')).toBe(0);
  parts.fights.disturbed(other);
  expect(parts.fights.wrote(other, 'v1')).toBe(false);
});
