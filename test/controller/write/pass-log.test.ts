import { expect, test } from 'vitest';
import { PassLog } from '../../../src/controller/write/pass-log.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { RecordedLog } from '../../informer/recorded-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const source = 'home/colors' as ObjectKey;

/** The log of a pass with writes of 2 ms each: every tenth an update, the others creates. */
async function told(writes: number): Promise<RecordedLog> {
  const log = new RecordedLog();
  const clock = new ManualClock();
  const pass = new PassLog(log, clock, source, writes);
  for (let number = 0; number < writes; number++) {
    const begunAt = clock.now();
    await clock.advance(2);
    const done = number % 10 === 9 ? 'update' : 'create';
    pass.wrote(`team-${number}/colors-synced` as ObjectKey, done, 'a reason', begunAt);
    pass.ended();
  }
  return log;
}

test('[O4] a small pass has a line for each companion', async () => {
  const { lines } = await told(8);
  expect(lines).toHaveLength(8);
  expect(lines[7]).toEqual({
    level: 'info',
    message: 'companion created',
    source,
    companion: 'team-7/colors-synced',
    reason: 'a reason',
    durationMs: 2,
  });
});

test('[O4] a large pass has a line for each hundred and one for the rest', async () => {
  const log = await told(230);
  const line = (created: number, updated: number) => ({
    level: 'info',
    message: 'companions written',
    source,
    created,
    updated,
    replaced: undefined,
    deleted: undefined,
    inSync: undefined,
    durationMs: 2 * (created + updated),
  });
  expect(log.told).toEqual([line(90, 10), line(90, 10), line(27, 3)]);
  expect(log.lines).toHaveLength(3 + 230);
});

test('[O4] a large pass in which some writes fail sums up what succeeded', () => {
  const log = new RecordedLog();
  const pass = new PassLog(log, new ManualClock(), source, 13);
  for (let number = 0; number < 13; number++) {
    if (number > 2) pass.wrote(`team-${number}/colors-synced` as ObjectKey, 'update', 'a reason', 0);
    pass.ended();
  }
  expect(log.told).toEqual([expect.objectContaining({ message: 'companions written', updated: 10 })]);
});
