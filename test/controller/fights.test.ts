import { expect, test } from 'vitest';
import { Fights } from '../../src/controller/fights.ts';
import type { ObjectKey } from '../../src/kube/object-key.ts';
import { ManualClock } from '../support/manual-clock.ts';

const companion = 'team-a/colors-synced' as ObjectKey;

function setUp() {
  const clock = new ManualClock();
  const fights = new Fights(clock);
  fights.wrote(companion, 'v1');
  return { clock, fights };
}

/** Heals as soon as it is allowed, `times` times; what each had to wait, seconds. */
async function heal({ clock, fights }: ReturnType<typeof setUp>, times: number): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let time = 0; time < times; time++) {
    const waitMs = fights.waitMs(companion, 'v1');
    waits.push(waitMs / 1000);
    await clock.advance(waitMs + 10);
    fights.wrote(companion, 'v1');
  }
  return waits;
}

test('[R14] five heals in a minute are free; then the pauses double, and stay at 60 s', async () => {
  expect(await heal(setUp(), 12)).toEqual([0, 0, 0, 0, 0, 0, 5, 10, 20, 40, 60, 60]);
});

test('[R14] the sixth heal is the first to be called a fight', async () => {
  const { clock, fights } = setUp();
  const verdicts: boolean[] = [];
  for (let time = 0; time < 6; time++) {
    await clock.advance(100);
    verdicts.push(fights.wrote(companion, 'v1'));
  }
  expect(verdicts).toEqual([false, false, false, false, false, true]);
});

test('[R14] heals more than a minute apart are no fight', async () => {
  const { clock, fights } = setUp();
  for (let time = 0; time < 20; time++) {
    await clock.advance(13_000);
    expect(fights.wrote(companion, 'v1')).toBe(false);
  }
});

test('[R14] a new version of the source is no heal, and does not wait', async () => {
  const parts = setUp();
  await heal(parts, 8);
  expect(parts.fights.waitMs(companion, 'v1')).toBeGreaterThan(0);
  expect(parts.fights.waitMs(companion, 'v2')).toBe(0);
  for (let version = 2; version < 30; version++) {
    expect(parts.fights.wrote(companion, `v${version}`)).toBe(false);
  }
});

test('[R14] two minutes of peace are forgiven', async () => {
  const parts = setUp();
  await heal(parts, 9);
  await parts.clock.advance(120_000);
  expect(parts.fights.wrote(companion, 'v1')).toBe(false);
  expect(parts.fights.waitMs(companion, 'v1')).toBe(0);
});

test('[R14] what we have deleted ourselves and make anew, as a namespace comes and goes, is no heal', async () => {
  const { clock, fights } = setUp();
  for (let time = 0; time < 20; time++) {
    await clock.advance(100);
    fights.deleted(companion);
    expect(fights.wrote(companion, 'v1')).toBe(false);
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

test('[R14] companions that one pass has written are told apart when they are healed', async () => {
  const { clock, fights } = setUp();
  const other = 'team-b/colors-synced' as ObjectKey;
  fights.wrote(other, 'v1');
  for (let time = 0; time < 7; time++) {
    await clock.advance(100);
    fights.wrote(companion, 'v1');
  }
  expect(fights.waitMs(companion, 'v1')).toBeGreaterThan(0);
  expect(fights.waitMs(other, 'v1')).toBe(0);
  expect(fights.wrote(other, 'v1')).toBe(false);
});
