import { expect, onTestFinished, test } from 'vitest';
import { canaryIn, FreshnessCanary } from '../../src/controller/freshness-canary.ts';
import type { Written } from '../../src/controller/memory/happening.ts';
import { ApiError } from '../../src/kube/errors.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { configMap, observed, vocabulary } from '../mirror/wire.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryApi } from './memory-api.ts';

const INTERVAL_MS = 30_000;

/** A canary whose companion follows after `delayMs`, or never. */
function scene(options: { readonly delayMs?: number } = {}) {
  const clock = new ManualClock();
  const api = new MemoryApi();
  const state = { leads: true, watches: true };
  const canary = new FreshnessCanary({
    api,
    namespace: 'ops',
    intervalMs: INTERVAL_MS,
    vocabulary,
    mayWrite: () => state.leads,
    clock,
    log: new RecordedLog(),
  });
  const follow = () => {
    const source = api.objects.get(canary.source);
    const companion = configMap('ops/mirror-controller-canary-synced', { data: source?.data ?? {} });
    canary.handler.add(observed(companion));
  };
  const show = () => {
    const source = api.objects.get(canary.source);
    if (source !== undefined && state.watches) canary.handler.add(observed(source));
  };
  const { delayMs } = options;
  api.beforeWrite = async () => {
    clock.setTimer(1, show);
    if (delayMs !== undefined) clock.setTimer(delayMs, follow);
  };
  const stop = new AbortController();
  const running = canary.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return { clock, api, state, canary, show };
}

test('[O6] changes that reach the companion are no misses', async () => {
  const { clock, api, canary } = scene({ delayMs: 5 });
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
  const source = api.objects.get(canary.source);
  expect(source?.metadata.labels).toEqual({ 'workshop.io/managed': 'true' });
  expect(source?.data).toEqual({ changed: clock.wallTime().toISOString() });
});

test('[O6] five misses in a row are a reason to restart, and one success ends them', async () => {
  const { clock, api, canary } = scene();
  await clock.advance(4 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
  await clock.advance(INTERVAL_MS);
  expect(canary.problem()).toContain('the last 5 changes of ops/mirror-controller-canary');
  const source = api.objects.get(canary.source);
  canary.handler.update(
    observed(configMap('ops/mirror-controller-canary-synced')),
    observed(configMap('ops/mirror-controller-canary-synced', { data: source?.data ?? {} })),
  );
  expect(canary.problem()).toBeUndefined();
});

test('[O6] an API server that does not answer is no miss', async () => {
  const { clock, api, canary } = scene();
  api.beforeWrite = async () => {
    throw new ApiError('down', { status: 503 });
  };
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
});

test('[O6] a change is one miss at most, also if the API server does not answer afterwards', async () => {
  const { clock, api, canary } = scene();
  await clock.advance(1_000);
  api.get = async () => {
    throw new ApiError('down', { status: 503 });
  };
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
});

test('[O6] [O2] a change that the watch does not show is no miss: a restart would not help', async () => {
  const { clock, state, canary } = scene();
  state.watches = false;
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
  state.watches = true;
  await clock.advance(6 * INTERVAL_MS);
  expect(canary.problem()).toBeDefined();
});

test('[O6] a companion that may not be written is no miss: a restart would not help', async () => {
  const { clock, api, canary, show } = scene();
  const refused: Written = {
    type: 'written',
    source: canary.source,
    object: undefined,
    companion: canary.source,
    action: 'create',
    reason: '',
    result: 'failed',
    durationMs: 1,
    heal: undefined,
  };
  api.beforeWrite = async () => {
    clock.setTimer(1, show);
    clock.setTimer(5, () => canary.hear(refused));
  };
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
});

test('[O6] a companion that was written and does not appear is a miss, however other sources fare', async () => {
  const { clock, api, canary, show } = scene();
  const other = canaryIn('elsewhere');
  const about = { object: undefined, companion: canary.source, durationMs: 1 };
  const written = { type: 'written', action: 'update', reason: '', heal: undefined, ...about } as const;
  api.beforeWrite = async () => {
    clock.setTimer(1, show);
    clock.setTimer(5, () => {
      canary.hear({ ...written, source: canary.source, result: 'ok' });
      canary.hear({ ...written, source: other, result: 'failed' });
    });
  };
  await clock.advance(5 * INTERVAL_MS);
  expect(canary.problem()).toBeDefined();
});

test('[O6] a companion that is left alone is no miss: for instance, its name is taken', async () => {
  for (const left of [
    { result: 'ok', companions: { conflict: 1 } },
    { result: 'ok', companions: { refused: 1 } },
    { result: 'ok', companions: { waiting: 1 } },
    { result: 'invalid', companions: {} },
  ] as const) {
    const { clock, api, canary, show } = scene();
    const { source } = canary;
    api.beforeWrite = async () => {
      clock.setTimer(1, show);
      clock.setTimer(5, () => {
        canary.hear({ type: 'reconciled', source, object: undefined, durationMs: 1, inSync: false, ...left });
      });
    };
    await clock.advance(20 * INTERVAL_MS);
    expect(canary.problem()).toBeUndefined();
  }
});

test('[O6] keys that somebody adds to the source go with the next change', async () => {
  const { clock, api, canary } = scene({ delayMs: 5 });
  const { source } = canary;
  await clock.advance(INTERVAL_MS);
  const { metadata, data } = api.objects.get(source) ?? {};
  if (metadata === undefined) throw new Error('there is no source');
  const edited = { metadata, data: { ...data, note: 'by hand' }, binaryData: { more: 'AA==' } };
  api.objects.set(source, edited);
  await clock.advance(20 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
  const { data: left = {}, binaryData } = api.objects.get(source) ?? {};
  expect([Object.keys(left), binaryData]).toEqual([['changed'], undefined]);
});

test('[O6] annotations of our domain that somebody adds to the source go with the next change', async () => {
  const { clock, api, canary } = scene({ delayMs: 5 });
  const { source } = canary;
  await clock.advance(INTERVAL_MS);
  const before = api.objects.get(source);
  if (before === undefined) throw new Error('there is no source');
  const annotations = {
    'workshop.io/companion-name': 'elsewhere',
    'workshop.io/unheard-of': '',
    'example.com/note': 'by hand',
  };
  api.objects.set(source, { ...before, metadata: { ...before.metadata, annotations } });
  await clock.advance(INTERVAL_MS);
  expect(api.objects.get(source)?.metadata.annotations).toEqual({ 'example.com/note': 'by hand' });
});

test('[O6] a standby changes nothing, and its misses from before do not count', async () => {
  const { clock, api, state, canary } = scene();
  await clock.advance(5 * INTERVAL_MS);
  expect(canary.problem()).toBeDefined();
  state.leads = false;
  expect(canary.problem()).toBeUndefined();
  await clock.advance(INTERVAL_MS);
  const before = api.objects.get(canary.source);
  await clock.advance(5 * INTERVAL_MS);
  expect(api.objects.get(canary.source)).toBe(before);
  state.leads = true;
  expect(canary.problem()).toBeUndefined();
  await clock.advance(5 * INTERVAL_MS);
  expect(canary.problem()).toBeUndefined();
});
