import { describe, expect, it } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { EVENT_TYPES, type EventType } from '../../src/notify/event-types.ts';
import { baseline, departed, type Observation, observed } from '../../src/notify/state/news.ts';
import {
  putBack,
  type Receiver,
  replaced,
  settled,
  withoutFormerSinks,
} from '../../src/notify/state/pending.ts';
import type { Notification, SourceRecord } from '../../src/notify/state/record.ts';
import { MOST_BYTES } from '../../src/notify/state/room.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const SEQ = NOW.getTime() / 1000;

const seen = (version: string, more: Partial<Observation> = {}): Observation => ({
  ref: objectKey('shop', 'colors'),
  version,
  resourceVersion: `rv of ${version}`,
  notify: undefined,
  changedKeys: undefined,
  companions: { 'in sync': 1 },
  inSync: false,
  isEverywhere: true,
  failure: undefined,
  conditions: {},
  ...more,
});
const FAILED = seen('1', { failure: 'why' });
const receiver = (more: Partial<Receiver> = {}): Receiver => ({
  name: 'ops',
  types: new Set(EVENT_TYPES),
  createdOnce: false,
  sending: undefined,
  ...more,
});

/** The record after these observations, and no attempt to send. */
function recordOf(observations: readonly Observation[], receivers = [receiver()], from?: SourceRecord) {
  return observations.reduce<SourceRecord | undefined>(
    (record, each) => observed(record, each, receivers, NOW),
    from,
  ) as SourceRecord;
}
const pendingOf = (record: SourceRecord, sink = 'ops'): readonly Notification[] =>
  record.sinks?.[sink]?.pending ?? [];
const typesOf = (record: SourceRecord, sink = 'ops'): readonly EventType[] =>
  pendingOf(record, sink).map(({ type }) => type);
/** As if everything that waits was sent. */
const sent = (record: SourceRecord, sink = 'ops'): SourceRecord =>
  pendingOf(record, sink).reduce((each, next) => settled(each, sink, next, NOW), record);

describe('what becomes a notification', () => {
  it('[N2] a new source is created, a new version changed, the same version nothing', () => {
    const created = recordOf([seen('1')]);
    expect(pendingOf(created)).toEqual([
      {
        ...{ type: 'source.created', seq: SEQ + 1, version: '1', resourceVersion: 'rv of 1' },
        ...{ at: NOW.toISOString(), companions: { 'in sync': 1 } },
      },
    ]);
    const changed = recordOf([seen('2', { changedKeys: ['sky'] })], [receiver()], sent(created));
    expect(pendingOf(changed)).toMatchObject([
      { type: 'source.changed', seq: SEQ + 2, version: '2', previousVersion: '1', changedKeys: ['sky'] },
    ]);
    const settledRecord = sent(changed);
    expect(recordOf([seen('2', { resourceVersion: 'another' })], [receiver()], settledRecord)).toBe(
      settledRecord,
    );
  });

  it('[N2] A → B → A are three, with three sequence numbers', () => {
    let record: SourceRecord | undefined;
    const numbers = ['A', 'B', 'A'].map((version) => {
      record = observed(record, seen(version), [receiver()], NOW);
      const { seq } = record;
      record = sent(record);
      return seq;
    });
    expect(new Set(numbers).size).toBe(3);
  });

  it('[N2] unlabelled is deleted, labelled again is created', () => {
    const gone = departed(sent(recordOf([seen('1')])), {}, [receiver()], NOW);
    expect(typesOf(gone)).toEqual(['source.deleted']);
    expect(departed(gone, {}, [receiver()], new Date(NOW.getTime() + 1))).toBe(gone);
    expect(typesOf(recordOf([seen('1')], [receiver()], sent(gone)))).toEqual(['source.created']);
  });

  it('[N7] a chat that was not told before the label went is told when it is set again', () => {
    const chat = receiver({ createdOnce: true, types: new Set(['source.created']) });
    const gone = departed(recordOf([seen('1')], [chat]), {}, [chat], NOW);
    expect(typesOf(gone)).toEqual([]);
    expect(typesOf(recordOf([seen('1')], [chat], gone))).toEqual(['source.created']);
  });

  it('[N7] a chat is told once of the creation of a uid', () => {
    const chat = receiver({ createdOnce: true, types: new Set(['source.created']) });
    const gone = departed(sent(recordOf([seen('1')], [chat])), {}, [chat], NOW);
    expect(typesOf(recordOf([seen('1')], [chat], gone))).toEqual([]);
  });

  it('[N2] converged is said once for each version', () => {
    const record = recordOf([seen('1'), seen('1', { inSync: true }), seen('1', { inSync: true })]);
    expect(typesOf(record)).toEqual(['source.created', 'companions.converged']);
    expect(typesOf(recordOf([seen('2', { inSync: true })], [receiver()], sent(record)))).toEqual([
      'source.changed',
      'companions.converged',
    ]);
  });

  it('[N2] content that a pin or a canary holds back has not converged', () => {
    const held = seen('1', { inSync: true, isEverywhere: false });
    expect(typesOf(recordOf([held, seen('1', { inSync: true })], [receiver()]))).toEqual([
      'source.created',
      'companions.converged',
    ]);
    expect(typesOf(recordOf([held]))).toEqual(['source.created']);
  });

  it('[N2] failing is said once, and recovered when all companions are in sync', () => {
    const failing = recordOf([seen('1'), seen('1', { failure: 'why' }), seen('1', { failure: 'another' })]);
    expect(pendingOf(failing)).toMatchObject([{}, { type: 'companions.failing', reason: 'why' }]);
    const still = recordOf([seen('1')], [receiver()], sent(failing));
    expect(typesOf(still)).toEqual([]);
    expect(typesOf(recordOf([seen('1', { inSync: true })], [receiver()], still))).toEqual([
      'companions.recovered',
      'companions.converged',
    ]);
  });

  it('[N2] a condition is told when it begins, and again when its topic changes', () => {
    const two = { 'deletes.held': { topic: 'two', reason: 'two' } };
    const held = (topic: string, reason = topic) =>
      seen('1', { conditions: { 'deletes.held': { topic, reason } } });
    const known = sent(recordOf([seen('1')]));
    const first = recordOf([held('two'), held('two', 'one of two')], [receiver()], known);
    expect(pendingOf(first)).toMatchObject([{ type: 'deletes.held', reason: 'two' }]);
    expect(pendingOf(recordOf([held('three')], [receiver()], sent(first)))).toMatchObject([
      { type: 'deletes.held', reason: 'three' },
    ]);
    const over = recordOf([seen('1')], [receiver()], sent(first));
    expect([typesOf(over), over.conditions]).toEqual([[], undefined]);
    expect(typesOf(recordOf([held('two')], [receiver()], over))).toEqual(['deletes.held']);
    const gone = departed(known, two, [receiver()], NOW);
    expect(typesOf(gone)).toEqual(['source.deleted', 'deletes.held']);
  });

  it('[N4] nothing of the very first start is news, not even a companion that fails', () => {
    const first = baseline(seen('1'), NOW);
    expect(typesOf(recordOf([seen('1', { inSync: true })], [receiver()], first))).toEqual([]);
    const failing = recordOf([seen('1'), seen('1', { failure: 'why' })], [receiver()], first);
    expect(typesOf(failing)).toEqual([]);
    expect(typesOf(recordOf([seen('1', { inSync: true })], [receiver()], failing))).toEqual([
      'companions.recovered',
    ]);
    expect(typesOf(recordOf([seen('2')], [receiver()], first))).toEqual(['source.changed']);
  });
});

describe('what waits', () => {
  it('[N5] the newest version replaces older ones, and says what changed since the last that was sent', () => {
    const known = sent(recordOf([seen('1')]));
    const record = recordOf(
      [seen('2', { changedKeys: ['b'] }), seen('3', { changedKeys: ['a', 'b'] })],
      [receiver()],
      known,
    );
    expect(pendingOf(record)).toMatchObject([
      { version: '3', previousVersion: '1', changedKeys: ['a', 'b'] },
    ]);
  });

  it('[N2] [N5] a change after a deletion that was never told of has its own keys and earlier version', () => {
    const receivers = [receiver({ createdOnce: true })];
    const told = sent(recordOf([seen('1')], receivers));
    const gone = departed(told, {}, receivers, NOW);
    const record = recordOf([seen('1'), seen('2', { changedKeys: ['a'] })], receivers, gone);
    expect(pendingOf(record)).toMatchObject([
      { type: 'source.changed', previousVersion: '1', changedKeys: ['a'] },
    ]);
  });

  it('[N5] if one change is unknown, all are', () => {
    const known = sent(recordOf([seen('1')]));
    const record = recordOf([seen('2', { changedKeys: ['b'] }), seen('3')], [receiver()], known);
    expect(pendingOf(record)).toMatchObject([{ version: '3', previousVersion: '1' }]);
    expect(pendingOf(record)[0]?.changedKeys).toBeUndefined();
  });

  it('[N5] the names of changed keys do not grow without limit while a sink is down', () => {
    const known = sent(recordOf([seen('1')]));
    const versions = Array.from({ length: 60 }, (_, n) => seen(`v${n}`, { changedKeys: [`a${n}`, `b${n}`] }));
    const record = recordOf(versions, [receiver()], known);
    expect(pendingOf(record)).toMatchObject([{ version: 'v59', previousVersion: '1' }]);
    expect(pendingOf(record)[0]?.changedKeys).toBeUndefined();
  });

  it('[N5] a creation that waits stays one, in the newest version, whatever types the sink takes', () => {
    const chat = receiver({ types: new Set(['source.created']) });
    expect(pendingOf(recordOf([seen('1'), seen('2')], [chat]))).toMatchObject([
      { type: 'source.created', version: '2' },
    ]);
  });

  it('[N5] what is being sent stays, and its successor follows', () => {
    const first = recordOf([seen('1')]);
    const record = recordOf([seen('2')], [receiver({ sending: SEQ + 1 })], first);
    expect(pendingOf(record)).toMatchObject([
      { type: 'source.created', version: '1' },
      { type: 'source.changed', version: '2', previousVersion: '1' },
    ]);
    const [sending] = pendingOf(record);
    if (sending === undefined) throw new Error('nothing waits');
    expect(pendingOf(settled(record, 'ops', sending, NOW))).toMatchObject([{ type: 'source.changed' }]);
    // It failed: the receiver knows neither.
    expect(pendingOf(replaced(record, 'ops', sending))).toMatchObject([
      { type: 'source.created', version: '2', seq: SEQ + 2 },
    ]);
    expect(replaced(first, 'ops', sending)).toBe(first);
  });

  it('[N5] a deletion replaces all that waits, also for a sink that does not hear of deletions', () => {
    const record = recordOf([seen('1', { inSync: true }), seen('1', { failure: 'why' })]);
    expect(typesOf(departed(record, {}, [receiver()], NOW))).toEqual(['source.deleted']);
    const chat = receiver({ types: new Set(['source.created']) });
    expect(typesOf(departed(recordOf([seen('1')], [chat]), {}, [chat], NOW))).toEqual([]);
  });

  it.each(['source.created', 'source.changed', 'companions.failing'] as const)(
    '[N5] %s that is being sent when the source goes, and fails, is over',
    (type) => {
      const only = receiver({ types: new Set([type]) });
      const news = { 'source.created': [], 'source.changed': [seen('2')], 'companions.failing': [FAILED] };
      const record = recordOf([seen('1'), ...news[type]], [only]);
      const [sending] = pendingOf(record);
      if (sending === undefined) throw new Error('nothing waits');
      const gone = departed(record, {}, [{ ...only, sending: sending.seq }], NOW);
      expect(typesOf(gone)).toEqual([type]);
      expect(typesOf(replaced(gone, 'ops', sending))).toEqual([]);
    },
  );

  it('[N5] what waits of a source that has gone, and is still so, is sent again', () => {
    const record = departed(
      sent(recordOf([seen('1')])),
      { 'deletes.held': { topic: 'a wave', reason: 'why' } },
      [receiver()],
      NOW,
    );
    expect(typesOf(record)).toEqual(['source.deleted', 'deletes.held']);
    const again = pendingOf(record).reduce((each, next) => replaced(each, 'ops', next), record);
    expect(again).toBe(record);
  });

  it('[N5] [N7] a chat that refused a creation, whose source has gone, hears of it if the label is set again', () => {
    const chat = receiver({ types: new Set(['source.created']), createdOnce: true });
    const record = recordOf([seen('1')], [chat]);
    const [creation] = pendingOf(record);
    if (creation === undefined) throw new Error('nothing waits');
    const claimed = departed(settled(record, 'ops', creation), {}, [chat], NOW);
    const gone = putBack(claimed, 'ops', creation);
    expect(typesOf(gone)).toEqual([]);
    expect(typesOf(recordOf([seen('1')], [chat], gone))).toEqual(['source.created']);
  });

  it('[N5] what waits for a sink that the operator has removed goes', () => {
    const [ops, former] = [receiver(), receiver({ name: 'former' })];
    const both = recordOf([seen('1')], [ops, former]);
    const after = withoutFormerSinks(both, new Set(['ops']));
    expect([typesOf(after), typesOf(after, 'former')]).toEqual([['source.created'], []]);
    expect(withoutFormerSinks(after, new Set(['ops']))).toBe(after);
  });

  it('[N5] a source that no longer chooses a sink tells it nothing new', () => {
    const nothing = receiver({ types: new Set() });
    expect(typesOf(recordOf([seen('2')], [nothing], recordOf([seen('1')])))).toEqual([]);
  });

  it('[N4] what was settled before it was sent, and was refused, waits again', () => {
    const record = recordOf([seen('1')]);
    const [only] = pendingOf(record);
    if (only === undefined) throw new Error('nothing waits');
    const claimed = settled(record, 'ops', only);
    expect(claimed.sinks).toBeUndefined();
    expect(putBack(claimed, 'ops', only)).toEqual(record);
    // Another process has settled it.
    expect(replaced(claimed, 'ops', only)).toBe(claimed);
  });

  it('[N4] the last version and time that were sent are known for each sink', () => {
    const record = sent(recordOf([seen('1')], [receiver(), receiver({ name: 'chat' })]));
    expect(record.sinks?.['ops']).toEqual({ version: '1', at: NOW.toISOString() });
    expect(record.sinks?.['chat']?.version).toBeUndefined();
  });
});

it('[N4] [N7] the records of 40,000 sources and a sink fit into sixteen ConfigMaps, with 500 that are gone in each', () => {
  const version = 'a'.repeat(64);
  const ref = objectKey('namespace-of-team', 'configuration-of-service');
  const observation = seen(version, { ref, resourceVersion: '123456789', inSync: true });
  const record = sent(recordOf([observation]));
  const bytes = JSON.stringify(record).length + 'd9b2d63d-a233-4123-847a-7c2e9f1f1f6b'.length;
  expect(record.sinks?.['ops']?.version).toBe('aaaaaaaa');
  expect((40_000 / 16 + 500) * bytes).toBeLessThan(MOST_BYTES);
});
