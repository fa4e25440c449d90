import { expect, test } from 'vitest';
import { judge } from '../../../src/controller/memory/failure.ts';
import type { Happening } from '../../../src/controller/memory/happening.ts';
import { PassReport } from '../../../src/controller/write/pass-report.ts';
import type { CompanionWriteStep } from '../../../src/controller/write/write-step.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { RecordedLog } from '../../informer/recorded-log.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const source = 'home/colors' as ObjectKey;

function steps(count: number): readonly CompanionWriteStep[] {
  return Array.from({ length: count }, (_, number) => {
    const companion = `team-${number}/colors-synced` as ObjectKey;
    return { action: 'create', companion, state: 'missing', reason: 'a reason' };
  });
}

function passOf(of: readonly CompanionWriteStep[], onEnd: () => void = () => undefined) {
  const [log, clock, happenings] = [new RecordedLog(), new ManualClock(), [] as Happening[]];
  const emit = (happening: Happening) => void happenings.push(happening);
  const pass = new PassReport({
    ...{ key: source, source: undefined, steps: of, writes: of.length, begunAt: 0, clock, log, emit, onEnd },
    isHeldBack: false,
  });
  return { log, clock, happenings, pass };
}

/** The log of a pass with writes of 2 ms each: every tenth an update, the others creates. */
async function told(writes: number): Promise<RecordedLog> {
  const of = steps(writes);
  const { log, clock, pass } = passOf(of);
  for (const [number, step] of of.entries()) {
    const begunAt = clock.now();
    await clock.advance(2);
    pass.wrote(step, { ...step, action: number % 10 === 9 ? 'update' : 'create' }, begunAt, undefined);
    pass.ended();
  }
  return log;
}

test.each([
  ['has created one', 'create', 1],
  ['found all of them in sync', 'none', 0],
] as const)('[Q2] a pass that %s leads to another one or not', (_what, action, times) => {
  const ends: string[] = [];
  const of = steps(2);
  const { pass } = passOf(of, () => void ends.push('ended'));
  for (const step of of) {
    pass.wrote(step, { ...step, action }, 0, undefined);
    pass.ended();
  }
  expect(ends).toHaveLength(times);
});

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
  const of = steps(13);
  const { log, pass, happenings } = passOf(of);
  for (const [number, step] of of.entries()) {
    if (number > 2) pass.wrote(step, { ...step, action: 'update' }, 0, undefined);
    else pass.failed(step, 0, judge(new Error('no reply')));
    pass.ended();
  }
  expect(log.told).toEqual([expect.objectContaining({ message: 'companions written', updated: 10 })]);
  const companions = { missing: 3, 'in sync': 10 };
  expect(happenings.at(-1)).toMatchObject({
    type: 'reconciled',
    result: 'failed',
    companions,
    inSync: false,
  });
});

test.for([
  ['[D7] its content waits', { action: 'update', state: 'drifted', until: 1 }],
  ['[D1] it was marked as held', { action: 'update', state: 'held' }],
])('[N2] a companion is not in sync after a write if %s', ([, parts]) => {
  const [plain] = steps(1);
  const step = { ...plain, differences: [], ...(parts as object) } as CompanionWriteStep;
  const { pass, happenings } = passOf([step]);
  pass.wrote(step, step, 0, undefined);
  pass.ended();
  expect(happenings.at(-1)).toMatchObject({ type: 'reconciled', result: 'ok', inSync: false });
});
