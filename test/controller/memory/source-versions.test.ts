import { describe, expect, test } from 'vitest';
import { SourceVersions } from '../../../src/controller/memory/source-versions.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { configMap, observed, source } from '../../mirror/wire.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = 'home/colors' as ObjectKey;
const SETTLE_MS = 2000;

/** A source that asks for quiet. `edit` gives it new content. */
function setUp(asks = { settle: '2s' }) {
  const clock = new ManualClock();
  const versions = new SourceVersions(clock);
  let round = 0;
  const at = (number: number) => observed(source(KEY, asks, { data: { round: `${number}` } }));
  const edit = () => {
    versions.changed(at(round), at(round + 1));
    round += 1;
  };
  return { clock, versions, edit, at, left: () => versions.unsettledMs(KEY, SETTLE_MS) };
}

describe('[D7] new content waits', () => {
  test('until the source has been quiet for as long as it asks', async () => {
    const { clock, edit, left } = setUp();
    expect(left()).toBe(0);
    edit();
    expect(left()).toBe(2000);
    await clock.advance(1500);
    edit();
    await clock.advance(1999);
    expect(left()).toBe(1);
    await clock.advance(1);
    expect(left()).toBe(0);
  });

  test('at most five times as long, then a new wait begins', async () => {
    const { clock, edit, left } = setUp();
    const waits: number[] = [];
    for (let second = 0; second < 12; second += 1) {
      edit();
      waits.push(left());
      await clock.advance(1000);
    }
    expect(waits).toEqual([...Array(9).fill(2000), 1000, 2000, 2000]);
  });

  test('no longer than the source asks now', () => {
    const { versions, edit } = setUp();
    edit();
    expect(versions.unsettledMs(KEY, 50)).toBe(50);
  });

  test('not for a source that was not one, nor for one with the same content', () => {
    const { versions, at, left } = setUp();
    versions.changed(observed(configMap(KEY)), at(1));
    versions.changed(at(1), { ...at(1), resourceVersion: '2' });
    expect(left()).toBe(0);
  });

  test('also for longer than a minute, while others change', async () => {
    const clock = new ManualClock();
    const versions = new SourceVersions(clock);
    const edit = (key: string, settle: string, round: number) =>
      versions.changed(
        observed(source(key, { settle }, { data: { round: `${round}` } })),
        observed(source(key, { settle }, { data: { round: `${round + 1}` } })),
      );
    edit(KEY, '10m', 0);
    await clock.advance(120_000);
    edit('home/other', '0s', 0);
    expect(versions.unsettledMs(KEY, 600_000)).toBe(480_000);
  });
});

describe('[D7] a source flaps', () => {
  const flapping = (versions: SourceVersions) => versions.isFlapping(KEY);

  test('with more than ten versions within a minute, settled or not', async () => {
    const { clock, versions, edit } = setUp({ settle: '0s' });
    for (let version = 0; version < 10; version += 1) {
      edit();
      expect(flapping(versions)).toBe(false);
      await clock.advance(5999);
    }
    edit();
    expect(flapping(versions)).toBe(true);
    await clock.advance(10);
    expect(flapping(versions)).toBe(false);
  });

  test('and not with ten versions a minute', async () => {
    const { clock, versions, edit } = setUp({ settle: '0s' });
    for (let version = 0; version < 50; version += 1) {
      edit();
      expect(flapping(versions)).toBe(false);
      await clock.advance(6000);
    }
  });
});
