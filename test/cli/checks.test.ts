import { expect, test } from 'vitest';
import { type CheckedParts, livenessChecks, readinessChecks } from '../../src/cli/session/checks.ts';
import type { ControllerHealth } from '../../src/controller/controller.ts';
import { Heartbeat } from '../../src/serving/heartbeat.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;

/** The failing checks of a process that is well except for this. */
function failing(health: Partial<ControllerHealth>, parts: Partial<CheckedParts> = {}) {
  const checked: CheckedParts = {
    controller: {
      health: () => ({
        unsynced: [],
        silentMs: { configMaps: 0, namespaces: 0 },
        oldestWriteMs: 0,
        stalledMs: 0,
        ...health,
      }),
    },
    heartbeat: { lateMs: () => 0 },
    election: undefined,
    canary: undefined,
    stopping: new AbortController().signal,
    ...parts,
  };
  return [...livenessChecks(checked), ...readinessChecks(checked)].flatMap(({ name, problem }) => {
    const reason = problem();
    return reason === undefined ? [] : [`${name}: ${reason}`];
  });
}

test('[O2] an open watch that brings nothing for five minutes fails its own check', () => {
  expect(failing({ silentMs: { configMaps: 5 * MINUTE, namespaces: 0 } })).toEqual([]);
  expect(failing({ silentMs: { configMaps: 6 * MINUTE, namespaces: 0 } })).toEqual([
    'watch-configmaps: the watch is open and has brought nothing for 360 s',
  ]);
  expect(failing({ silentMs: { configMaps: 0, namespaces: 6 * MINUTE } })).toEqual([
    'watch-namespaces: the watch is open and has brought nothing for 360 s',
  ]);
});

test('[O2] work fails its check only when it is far beyond every time limit', () => {
  expect(failing({ oldestWriteMs: 10 * MINUTE, stalledMs: 10 * MINUTE })).toEqual([]);
  expect(failing({ oldestWriteMs: 16 * MINUTE })).toEqual(['workers: a write has been under way for 960 s']);
  expect(failing({ stalledMs: 16 * MINUTE })).toEqual(['workers: no work has ended for 960 s']);
});

test('[O2] the event loop, the Lease, the lists and a stop have checks', () => {
  const stopping = AbortSignal.abort();
  expect(
    failing(
      { unsynced: ['the list of Namespaces'] },
      {
        heartbeat: { lateMs: () => 11_000 },
        election: { problem: () => 'not renewed' },
        canary: { problem: () => 'missed' },
        stopping,
      },
    ),
  ).toEqual([
    'event-loop: a timer is 11 s late',
    'lease: not renewed',
    'freshness-canary: missed',
    'synced: not complete: the list of Namespaces',
    'shutdown: the process is stopping',
  ]);
});

test('[O2] a heartbeat is late by the time for which its timer did not run', async () => {
  const clock = new ManualClock();
  let blockedMs = 0;
  const heartbeat = new Heartbeat({ ...clockOf(clock), now: () => clock.now() + blockedMs });
  const stop = new AbortController();
  const running = heartbeat.run(stop.signal);
  await clock.advance(10_000);
  expect(heartbeat.lateMs()).toBe(0);
  blockedMs = 12_000;
  expect(heartbeat.lateMs()).toBe(11_000);
  await clock.advance(1_000);
  expect(heartbeat.lateMs()).toBe(0);
  stop.abort();
  await running;
});

const clockOf = (clock: ManualClock) => ({
  wallTime: () => clock.wallTime(),
  setTimer: (delayMs: number, callback: () => void) => clock.setTimer(delayMs, callback),
});
