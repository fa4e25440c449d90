import { expect, test } from 'vitest';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { Tracker } from '../../src/notify/tracker.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { observed, source, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('[N4] an annotation of 200 KB takes no room in the state, and not much in the log', () => {
  const sinks = parseNotifyConfig('sinks: [{name: ops, type: webhook, url: "https://ops"}]', '/');
  if (!sinks.ok) throw new Error(sinks.problem);
  const names = Array.from({ length: 20_000 }, (_, at) => `sink-${at}`);
  const object = observed(source('shop/colors', { notify: [...names, 'ops'].join() }));
  const records = new Map<string, SourceRecord>();
  const log = new RecordedLog();
  const notes: string[] = [];
  const tracker = new Tracker({
    ...{ sinks: sinks.value, vocabulary, clock: new ManualClock(), log },
    sources: { get: () => object },
    state: {
      get: (uid) => records.get(uid),
      set: (uid, record) => void records.set(uid, record),
      stored: async () => 'stored',
      uidAt: () => undefined,
    },
    sending: () => undefined,
    read: async () => undefined,
    report: (_uid, _ref, _reason, note) => notes.push(note),
  });
  tracker.look(object.key, undefined);
  const record = records.get(object.uid);
  expect(record?.notify).toBe('ops');
  expect(Object.keys(record?.sinks ?? {})).toEqual(['ops']);
  expect(notes).toEqual([expect.stringMatching(/there is no sink sink-4; 19995 more like these$/)]);
  expect(JSON.stringify(log.lines).length).toBeLessThan(1_000);
});
