import { expect, onTestFinished, test } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import { Term } from '../../src/notify/term.ts';
import { MemoryApi } from '../controller/memory-api.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { observed, source, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';

const FORBIDDEN = new ApiError('no', { status: 403, reason: 'Forbidden' });

/** A running term with a webhook that takes everything, over a cluster in memory. */
function open(cluster: () => Promise<string> = async () => 'a-cluster') {
  const sinks = parseNotifyConfig(
    'sinks: [{name: ops, type: webhook, url: "https://ops", default: true}]',
    '/',
  );
  if (!sinks.ok) throw new Error(sinks.problem);
  const clock = new ManualClock();
  const api = new MemoryApi();
  const object = observed(source('shop/colors'));
  const receiver = { sent: 0 };
  let isPresent = false;
  const term = new Term({
    ...{ sinks: sinks.value, vocabulary, api, clock, log: new RecordedLog(), random: () => 0 },
    ...{ prefix: objectKey('home', 'notify'), cluster, report: () => undefined },
    isBusy: () => false,
    problems: { of: () => ({ failure: undefined, conditions: {} }) },
    count: () => undefined,
    sources: {
      whenSynced: async () => undefined,
      all: () => [],
      get: () => (isPresent ? object : undefined),
      queue: () => undefined,
      content: () => Promise.reject(new Error('nobody asks for content')),
    },
    deliver: async () => {
      receiver.sent += 1;
      return { kind: 'accepted' };
    },
  });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const since = clock.wallTime().getTime();
  void term.run(stop.signal);
  /** As after the first pass over a source. */
  const create = () => {
    isPresent = true;
    term.hear({
      ...{ type: 'reconciled', source: object.key, object, result: 'ok', durationMs: 1 },
      ...{ companions: { 'in sync': 1 }, inSync: true },
    });
  };
  return { term, clock, api, receiver, create, since };
}

test('[N5] while it cannot begin, everything waits, so that the alert fires', async () => {
  let isOpen = false;
  const { term, clock, since } = open(async () => {
    if (!isOpen) throw FORBIDDEN;
    return 'a-cluster';
  });
  await clock.advance(60_000);
  expect(term.oldest('ops')).toBe(since);
  isOpen = true;
  await clock.advance(60_000);
  expect(term.oldest('ops')).toBe(Number.POSITIVE_INFINITY);
});

test('[N5] what cannot be stored counts as waiting, so that the alert fires when the state is full', async () => {
  const { term, clock, api, receiver, create } = open();
  await clock.advance(15_000);
  api.beforeWrite = async () => {
    throw new ApiError('data: Too long: may not be more than 1048576 bytes', {
      status: 422,
      reason: 'Invalid',
    });
  };
  const since = clock.wallTime().getTime();
  create();
  await clock.advance(60_000);
  expect([term.oldest('ops'), receiver.sent]).toEqual([since, 0]);
  // Somebody makes room.
  api.beforeWrite = async () => undefined;
  await clock.advance(60_000);
  expect([term.oldest('ops'), receiver.sent]).toEqual([Number.POSITIVE_INFINITY, 2]);
});
