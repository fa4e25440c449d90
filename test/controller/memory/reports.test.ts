import { expect, test } from 'vitest';
import { CompanionMemory } from '../../../src/controller/memory/companion-memory.ts';
import { judge } from '../../../src/controller/memory/failure.ts';
import type { Listener } from '../../../src/controller/memory/happening.ts';
import { Reports } from '../../../src/controller/memory/reports.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { remarksOn } from '../../../src/mirror/explain/remarks.ts';
import { RecordedLog } from '../../informer/recorded-log.ts';
import { namespace, observed, source } from '../../mirror/wire.ts';
import { boundsOf, planFor, viewOf, world } from '../../mirror/world.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = 'home/colors';
const all = { 'target-namespaces': 'team-*' };
const label = source(KEY, { ...all, 'render-keys': '*' }, { data: { k: '$(mirror.label.tier)' } });

test.for([
  ['[P3] namespaces that have not consented', source(KEY, all), true],
  ['[V4] namespaces without a text for a placeholder', label, false],
] as const)('%s are reported once, however many come and go', ([, asking, requireConsent]) => {
  const log = new RecordedLog();
  const memory = new CompanionMemory(new ManualClock(), () => 0);
  const bounds = boundsOf({ requireConsent });
  const reports = new Reports({ log, memory, view: viewOf(world([])), emit: () => undefined });
  const pass = (...names: readonly string[]) => {
    const of = world(
      [asking],
      names.map((name) => namespace(name)),
      bounds,
    );
    reports.validSource(observed(asking).key, remarksOn(observed(asking), planFor(KEY, of), viewOf(of)));
  };
  pass('team-a', 'team-b');
  pass('team-a', 'team-b', 'team-c');
  pass('team-a');
  pass('other');
  expect(log.told.map(({ message }) => message)).toEqual(['source needs attention', 'resolved']);
});

test('[O3] each kind of remark on a source begins and ends by itself', () => {
  const { key } = observed(label);
  const told: string[] = [];
  const emit: Listener = (happening) => {
    if (happening.type === 'problem') told.push(`${happening.kind} ${happening.state}: ${happening.reason}`);
  };
  const memory = new CompanionMemory(new ManualClock(), () => 0);
  const reports = new Reports({ log: new RecordedLog(), memory, view: viewOf(world([])), emit });
  const held = { kind: 'deletes held', text: '3 are held' } as const;
  const typo = { kind: 'annotation', text: 'did you mean pin?' } as const;
  const unresolved = { kind: 'unresolved', text: 'no label tier' } as const;
  reports.validSource(key, [held, typo, { ...typo, text: 'notify: "a b"' }]);
  reports.validSource(key, [held, typo, { ...typo, text: 'notify: "a b"' }, unresolved]);
  reports.invalidSource(key, 'pin: "x"');
  reports.validSource(key, [unresolved]);
  expect(told).toEqual([
    'deletes held began: 3 are held',
    'annotation began: did you mean pin?; notify: "a b"',
    'unresolved began: no label tier',
    'invalid began: pin: "x"',
    'invalid resolved: pin: "x"',
    'deletes held resolved: 3 are held',
    'annotation resolved: did you mean pin?; notify: "a b"',
  ]);
});

test.each([
  [
    'a webhook that cannot be called',
    'Internal error occurred: failed calling webhook "policy.example": connection refused',
    'transient',
  ],
  ['[R13] an object too large for etcd', 'etcdserver: request is too large', 'hopeless'],
  [
    '[R13] an object too large to be sent to etcd',
    'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2106123 vs. 2097152)',
    'hopeless',
  ],
])('[O3] %s is a problem of the companion, not an outage', (_, message, kind) => {
  const told: string[] = [];
  const log = new RecordedLog();
  const emit: Listener = (happening) => void told.push(happening.type === 'problem' ? happening.kind : '');
  const memory = new CompanionMemory(new ManualClock(), () => 0);
  const reports = new Reports({ log, memory, view: viewOf(world([])), emit });
  const { key } = observed(label);
  const error = new ApiError(message, { status: 500 });
  expect(judge(error).kind).toBe(kind);
  const companion = 'team-a/colors-synced' as ObjectKey;
  const step = { action: 'create', companion, state: 'missing', reason: 'it did not exist' } as const;
  for (let attempt = 0; attempt < 3; attempt++) {
    reports.failed(key, step, error);
    reports.written(key, 'team-b/colors-synced' as ObjectKey);
  }
  expect(told).toEqual(['write failed']);
  expect(log.told.map((line) => line.message)).toEqual(['companion cannot be written']);
});

test('[O4] what a dry run would write, and a retained companion, are no problems that are resolved', () => {
  const log = new RecordedLog();
  const memory = new CompanionMemory(new ManualClock(), () => 0);
  const reports = new Reports({ log, memory, view: viewOf(world([])), emit: () => undefined });
  const { key } = observed(label);
  const companion = 'team-a/colors-synced' as ObjectKey;
  reports.wouldWrite(key, { action: 'create', companion, state: 'missing', reason: 'it did not exist' });
  reports.resolved(key, companion);
  reports.leftAlone(key, { action: 'none', companion, state: 'retained', reason: 'it is kept' });
  reports.resolved(key, companion);
  expect(log.told.map(({ message }) => message)).toEqual([
    'companion would be created',
    'companion retained',
  ]);
});

test('[R14] a fight with a client that leaves no trace names nobody to listeners', () => {
  const told: (string | undefined)[] = [];
  const log = new RecordedLog();
  const emit: Listener = (happening) => {
    if (happening.type === 'problem') told.push(happening.editedBy);
  };
  const memory = new CompanionMemory(new ManualClock(), () => 0);
  const reports = new Reports({ log, memory, view: viewOf(world([])), emit });
  const { key } = observed(label);
  reports.fight(key, 'team-a/colors-synced' as ObjectKey, 'helm');
  reports.fight(key, 'team-b/colors-synced' as ObjectKey, undefined);
  expect(told).toEqual(['helm', undefined]);
  expect(log.told.map((line) => line['fieldManager'])).toEqual(['helm', 'unknown']);
});
