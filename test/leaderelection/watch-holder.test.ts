import { expect, test } from 'vitest';
import type { WatchEvent, WatchOptions } from '../../src/kube/api/list-watch.ts';
import type { Lease } from '../../src/kube/api/types.ts';
import { NetworkError } from '../../src/kube/errors.ts';
import { watchHolder } from '../../src/leaderelection/watch-holder.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';

const lease = (holderIdentity?: string): Lease => ({
  metadata: { name: 'election', uid: 'u', resourceVersion: '1' },
  spec: holderIdentity === undefined ? {} : { holderIdentity },
});
const modified = (holder?: string): WatchEvent<Lease> => ({ type: 'MODIFIED', object: lease(holder) });

/** Each watch brings the next of `scripts`, and then fails, ends or goes on. */
function start(scripts: readonly { batches: WatchEvent<Lease>[][]; ending: 'fail' | 'end' | 'hang' }[]) {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const seen: unknown[] = [];
  const opened: WatchOptions[] = [];
  const stop = new AbortController();
  const leases = {
    async *watch(options: WatchOptions, signal: AbortSignal) {
      const script = scripts[opened.length];
      opened.push(options);
      yield* script?.batches ?? [];
      if (script?.ending === 'fail') throw new NetworkError('reset', { code: 'ECONNRESET' });
      if (script?.ending === 'hang')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const onChange = (holder: string | undefined) => seen.push(holder);
  const ended = watchHolder({ leases, onChange, retryPeriodMs: 2_000, clock, log }, stop.signal);
  return { clock, log, seen, opened, stop, ended };
}

test('[L3] the watch tells the last holder of each batch, and nobody when the Lease is released or deleted', async () => {
  const bookmark = { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false } as const;
  const { clock, log, seen, opened, stop, ended } = start([
    {
      batches: [
        [modified('one')],
        [modified('one'), modified(''), bookmark],
        [bookmark],
        [modified()],
        [modified('two'), { type: 'DELETED', object: lease('two') }],
      ],
      ending: 'hang',
    },
  ]);
  await clock.advance(60_000);
  expect(seen).toEqual(['one', undefined, undefined, undefined]);
  expect(opened).toHaveLength(1);
  stop.abort();
  await ended;
  // That it was stopped is no failure.
  expect(log.lines).toEqual([]);
});

test('[L3] a watch that fails or ends is opened again after a retry period, without a warning', async () => {
  const { clock, log, seen, opened, stop, ended } = start([
    { batches: [], ending: 'fail' },
    { batches: [[modified('one')]], ending: 'end' },
    { batches: [[modified('two')]], ending: 'hang' },
  ]);
  await clock.advance(1_999);
  expect(opened).toHaveLength(1);
  await clock.advance(2_001);
  expect(opened).toHaveLength(3);
  expect(seen).toEqual(['one', 'two']);
  expect(log.told).toEqual([]);
  stop.abort();
  await ended;
});
