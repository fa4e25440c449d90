import { expect, test } from 'vitest';
import type { ProblemChanged } from '../../src/controller/memory/happening.ts';
import { objectKey } from '../../src/kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../src/mirror/observe/observed-config-map.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import { Problems } from '../../src/notify/problems.ts';
import type { SourceRecord } from '../../src/notify/state/record.ts';
import { Tracker } from '../../src/notify/tracker.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { observed, source, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A tracker of one source, and what it remembers of it. */
function open(object: ObservedConfigMap) {
  const sinks = parseNotifyConfig('sinks: [{name: ops, type: webhook, url: "https://ops"}]', '/');
  if (!sinks.ok) throw new Error(sinks.problem);
  const records = new Map<string, SourceRecord>();
  const log = new RecordedLog();
  const notes: string[] = [];
  const problems = new Problems();
  let isThere = true;
  const tracker = new Tracker({
    problems,
    ...{ sinks: sinks.value, vocabulary, clock: new ManualClock(), log },
    sources: { get: () => (isThere ? object : undefined) },
    state: {
      get: (uid) => records.get(uid),
      set: (uid, record) => void records.set(uid, record),
      stored: async () => 'stored',
      uidAt: () => undefined,
      goneAt: () => undefined,
    },
    sending: () => undefined,
    mayBeBehind: () => false,
    read: async () => undefined,
    report: (_uid, _ref, _reason, note) => notes.push(note),
  });
  const remove = () => {
    isThere = false;
  };
  const look = () =>
    tracker.look({
      ...{ type: 'reconciled', source: object.key, object: undefined, result: 'ok' },
      ...{ durationMs: 0, companions: {}, inSync: false },
    });
  return { tracker, look, problems, record: () => records.get(object.uid), remove, log, notes };
}

test('[N4] an annotation of 200 KB takes no room in the state, and not much in the log', () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `sink-${at}`);
  const object = observed(source('shop/colors', { notify: [...names, 'ops'].join() }));
  const { look, record, log, notes } = open(object);
  look();
  expect(record()?.notify).toBe('ops');
  expect(Object.keys(record()?.sinks ?? {})).toEqual(['ops']);
  expect(notes).toEqual([expect.stringMatching(/there is no sink sink-4; 19995 more like these$/)]);
  expect(JSON.stringify(log.lines).length).toBeLessThan(1_000);
});

test('[N4] nor do the long refusals of an admission webhook', () => {
  const object = observed(source('shop/colors', { notify: 'ops' }));
  const { look, problems, record } = open(object);
  const problem: ProblemChanged = {
    ...{ type: 'problem', state: 'began', source: object.key, object, reason: 'no! '.repeat(10_000) },
    ...{ namespaceUid: undefined, editedBy: undefined },
    ...{ kind: 'refused', subject: objectKey('team-a', 'colors-synced') },
  };
  problems.hear(problem);
  problems.hear({ ...problem, kind: 'canary failed', subject: object.key });
  look();
  const [, failing, canary] = record()?.sinks?.['ops']?.pending ?? [];
  expect([failing?.type, canary?.type]).toEqual(['companions.failing', 'canary.failed']);
  expect(failing?.reason).toMatch(/^team-a\/colors-synced: no! no! .*…$/);
  expect(JSON.stringify(record()).length).toBeLessThan(4_000);
});

test('[N2] what a notification says to have changed, the next one does not say again', () => {
  const object = observed(source('shop/colors', { notify: 'ops' }));
  const { tracker, look } = open(object);
  tracker.changedKeys.add(object.key, { data: {}, binaryData: {} }, { data: { sky: 'red' }, binaryData: {} });
  look();
  if (!object.request?.ok) throw new Error('not a valid source');
  expect(tracker.changedKeys.of(object.key, object.request.value)).toBeUndefined();
});

test('[N5] what has changed of a source that is gone is forgotten', async () => {
  const object = observed(source('shop/colors', { notify: 'ops' }));
  const { tracker, look, record } = open(object);
  look();
  const sky = (color: string) => ({ data: { sky: color }, binaryData: {} });
  tracker.changedKeys.add(object.key, sky('blue'), sky('red'));
  tracker.depart(object.uid);
  expect(record()?.gone).toBe(true);
  if (!object.request?.ok) throw new Error('not a valid source');
  expect(tracker.changedKeys.of(object.key, object.request.value)).toBeUndefined();
});

test('[N5] so is that of a source that went before it was ever recorded', () => {
  const object = observed(source('shop/colors', { notify: 'ops' }));
  const { tracker, look, remove } = open(object);
  tracker.changedKeys.add(object.key, { data: {}, binaryData: {} }, { data: { sky: 'red' }, binaryData: {} });
  remove();
  look();
  if (!object.request?.ok) throw new Error('not a valid source');
  expect(tracker.changedKeys.of(object.key, object.request.value)).toBeUndefined();
});
