import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { type ObjectKey, objectKey } from '../../src/kube/api/object-key.ts';
import { NotifyState } from '../../src/notify/state/notify-state.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { shardOf } from '../../src/notify/state/stored-record.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const REF = objectKey('shop', 'colors');

/** Of a source that was deleted in this second. */
const goneAt = (second: number, ref: ObjectKey = REF): SourceRecord => ({
  ...{ ref, seq: 1, version: 'a'.repeat(64), resourceVersion: '1', gone: true },
  at: new Date(1_000 * second).toISOString(),
});

function stateOver(clock: ManualClock): NotifyState {
  return new NotifyState({
    ...{ prefix: objectKey('home', 'notify'), api: new MemoryApi(), clock, log: new RecordedLog() },
    ...{ random: () => 0, isBusy: () => false },
    ...{ onStored: () => undefined, onReloaded: () => undefined },
  });
}

test('[N4] of two sources of one name that are gone, the last one is known, whichever is read first', () => {
  const uids = ['first', 'second'];
  for (const order of [uids, uids.toReversed()]) {
    const state = stateOver(new ManualClock());
    for (const uid of order) state.set(uid, goneAt(uids.indexOf(uid)));
    expect([state.goneAt(REF), state.uidAt(REF)]).toEqual(['second', undefined]);
  }
});

test('[N4] a source that is forgotten is not there either, and one that has its name since stays', async () => {
  const clock = new ManualClock();
  const state = stateOver(clock);
  // Two more than are remembered.
  const uids = Array.from({ length: 20_000 }, (_, at) => `uid-${at}`).filter((uid) => shardOf(uid) === 0);
  const [, second, ...others] = uids.slice(0, 502);
  const again = objectKey('shop', 'shapes');
  const refs = [REF, again, ...others.map((uid) => objectKey('shop', uid))];
  for (const [at, ref] of refs.entries()) state.set(uids[at] ?? '', goneAt(at, ref));
  expect([state.goneAt(REF), state.goneAt(again)]).toEqual([uids[0], second]);
  state.set('new', { ...goneAt(600, again), gone: undefined });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const running = state.run(stop.signal);
  await clock.advance(1_000);
  stop.abort();
  await clock.advance(60_000);
  await running;
  expect([state.get(uids[0] ?? ''), state.get(second ?? '')]).toEqual([undefined, undefined]);
  expect([state.goneAt(REF), state.uidAt(REF), state.uidAt(again)]).toEqual([undefined, undefined, 'new']);
});
