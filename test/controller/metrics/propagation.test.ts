import { expect, test } from 'vitest';
import type { Reconciled, Written } from '../../../src/controller/memory/happening.ts';
import { Propagation } from '../../../src/controller/metrics/propagation.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const source = 'a/colors' as ObjectKey;

/** One source whose passes and writes the test tells of. */
function scene() {
  const clock = new ManualClock();
  const measured: (readonly [string, number])[] = [];
  const propagation = new Propagation(clock, (cause, seconds) => measured.push([cause, seconds]));
  let passBegan = 0;
  return {
    clock,
    measured,
    notice: (cause: 'edit' | 'heal' | 'namespace') => propagation.noticed({ type: 'noticed', source, cause }),
    beginPass: () => {
      passBegan = clock.now();
    },
    write: (result: Written['result'] = 'ok') =>
      propagation.written({
        type: 'written',
        source,
        object: undefined,
        companion: 'b/colors-synced' as ObjectKey,
        action: 'update',
        reason: '',
        result,
        durationMs: 0,
        heal: undefined,
      }),
    endPass: (left: Partial<Reconciled> = {}) =>
      propagation.reconciled({
        type: 'reconciled',
        source,
        object: undefined,
        result: 'ok',
        durationMs: clock.now() - passBegan,
        companions: {},
        inSync: true,
        ...left,
      }),
  };
}

test("[O1] propagation is from the watch event to the answer to the last companion's write", async () => {
  const { clock, measured, notice, beginPass, write, endPass } = scene();
  notice('edit');
  await clock.advance(1_000);
  beginPass();
  write();
  await clock.advance(2_000);
  write();
  await clock.advance(500);
  endPass();
  expect(measured).toEqual([['edit', 3]]);
  endPass();
  expect(measured).toHaveLength(1);
});

test('[O1] a change that needs several passes is measured when the last one has nothing left', async () => {
  const { clock, measured, notice, beginPass, write, endPass } = scene();
  notice('namespace');
  beginPass();
  write('failed');
  endPass({ result: 'failed', companions: { missing: 1 } });
  await clock.advance(1_000);
  beginPass();
  write('stale');
  endPass({ companions: { drifted: 1 } });
  await clock.advance(1_000);
  beginPass();
  write();
  endPass({ companions: { 'in sync': 1, conflict: 1 } });
  expect(measured).toEqual([['namespace', 2]]);
});

test('[O1] a change that comes during a pass is measured by itself, one that needs no write is not', async () => {
  const { clock, measured, notice, beginPass, write, endPass } = scene();
  notice('edit');
  beginPass();
  await clock.advance(1_000);
  notice('heal');
  write();
  await clock.advance(1_000);
  endPass();
  beginPass();
  await clock.advance(3_000);
  write();
  endPass();
  notice('edit');
  beginPass();
  endPass();
  expect(measured).toEqual([
    ['edit', 1],
    ['edit', 4],
  ]);
});

test('[O1] a pass that could not plan, because the cache was behind, leaves the change to the next one', async () => {
  const { clock, measured, notice, beginPass, write, endPass } = scene();
  notice('edit');
  beginPass();
  endPass({ result: 'stale' });
  await clock.advance(2_000);
  beginPass();
  write();
  endPass();
  expect(measured).toEqual([['edit', 2]]);
});
