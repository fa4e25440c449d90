import { expect, test } from 'vitest';
import { startInformer } from './running-informer.ts';
import { fail, hang, send, type WatchStep, wait } from './scripted-list-watch.ts';
import {
  added,
  apiError,
  bookmark,
  deleted,
  expired,
  initialEventsEnd,
  keyed,
  malformed,
  modified,
  page,
  refused,
  reset,
  type Widget,
  widget,
} from './widgets.ts';

type Steps = readonly WatchStep<Widget>[];

const a1 = widget('a', 1);
const listed = send(added(a1), initialEventsEnd(10));
const minute = 60_000;

test('[W3] a watch resumes from the last resourceVersion, that of a bookmark or a deletion included', async () => {
  await using running = await startInformer({
    watches: [
      [listed, send(modified(widget('a', 11))), wait(minute)],
      [send(bookmark(12)), wait(minute)],
      [send(deleted(widget('a', 13))), wait(minute)],
      [hang],
    ],
  });
  await running.clock.advance(3 * minute);
  expect(running.server.watches.slice(1)).toMatchObject([
    { sendInitialEvents: false, resourceVersion: '11' },
    { sendInitialEvents: false, resourceVersion: '12' },
    { sendInitialEvents: false, resourceVersion: '13' },
  ]);
  expect(running.server.requests.map(({ at }) => at)).toEqual([0, minute, 2 * minute, 3 * minute]);
  expect(running.replay.told).toEqual(['add default/a@1', 'update default/a@1->11', 'delete default/a@11']);
});

test('[W3] timeoutSeconds is random from 300 to 600', async () => {
  const draws = [0, 0.5, 0.999_999];
  const drawn = draws.values();
  await using running = await startInformer({
    random: () => drawn.next().value ?? 0,
    watches: [[listed, wait(minute)], [wait(minute)], [hang]],
  });
  await running.clock.advance(2 * minute);
  expect(running.server.watches.map(({ timeoutSeconds }) => timeoutSeconds)).toEqual([300, 450, 600]);
});

const interruptions: Record<string, { readonly error: Error; readonly delayMs: number }> = {
  'a reset connection': { error: reset, delayMs: 800 },
  'a malformed line': { error: malformed, delayMs: 800 },
  'a 429': { error: apiError(429, 'TooManyRequests'), delayMs: 800 },
  'a 429 with a Retry-After of 5 s': { error: apiError(429, 'TooManyRequests', 5_000), delayMs: 5_000 },
  'a 503 whose Retry-After is shorter than the backoff': {
    error: apiError(503, 'ServiceUnavailable', 100),
    delayMs: 800,
  },
  'a 500': { error: apiError(500, 'InternalError'), delayMs: 800 },
  'a 401': { error: apiError(401, 'Unauthorized'), delayMs: 800 },
  'a 403': { error: apiError(403, 'Forbidden'), delayMs: 800 },
  'a fault of our own': { error: new TypeError('undefined is not a function'), delayMs: 800 },
};

test.each(Object.entries(interruptions))(
  '[W3] after %s the watch resumes from where it was, with backoff',
  async (_, { error, delayMs }) => {
    await using running = await startInformer({
      watches: [
        [listed, wait(1_000), fail(error)],
        [send(modified(widget('a', 11))), hang],
      ],
    });
    await running.clock.advance(minute);
    expect(running.server.requests.map(({ at }) => at)).toEqual([0, 1_000 + delayMs]);
    expect(running.server.watches[1]).toMatchObject({ sendInitialEvents: false, resourceVersion: '10' });
    expect(running.cached).toEqual(['default/a@11']);
  },
);

const unresumable: Record<string, Error> = {
  'a 410': expired,
  'a resourceVersion that means nothing to the server': apiError(400, 'BadRequest'),
};

test.each(Object.entries(unresumable))('[W3] %s ends in a relist, with backoff', async (_, error) => {
  await using running = await startInformer({
    watches: [
      [listed, wait(1_000), fail(error)],
      [send(added(widget('b', 12)), initialEventsEnd(12)), hang],
    ],
  });
  await running.clock.advance(minute);
  expect(running.server.requests.map(({ at }) => at)).toEqual([0, 1_800]);
  expect(running.server.watches[1]?.resourceVersion).toBeUndefined();
  expect(running.cached).toEqual(['default/b@12']);
});

test('[W3] a connection silent for 90 s is replaced at once, from the last resourceVersion', async () => {
  await using running = await startInformer({
    watches: [[listed, wait(89_000), send(bookmark(11)), wait(80_000), send(bookmark(12)), hang], [hang]],
  });
  const silentFrom = 89_000 + 80_000;
  await running.clock.advance(silentFrom + 90_000);
  expect(running.server.requests.map(({ at }) => at)).toEqual([0, silentFrom + 90_000]);
  expect(running.server.watches[1]).toMatchObject({ sendInitialEvents: false, resourceVersion: '12' });
  expect(running.server.underWay).toBe(1);
});

test('[W3] a watch that closes as soon as it is open counts towards the backoff, one that lived does not', async () => {
  await using running = await startInformer({
    watches: [[listed, wait(minute)], [], [send(bookmark(11))], [wait(minute)], [hang]],
  });
  await running.clock.advance(3 * minute);
  expect(running.server.requests.map(({ at }) => at)).toEqual([
    0,
    minute,
    minute + 800,
    minute + 800 + 1_600,
    2 * minute + 800 + 1_600,
  ]);
});

test('[W3] the backoff doubles from 0.8 s to 30 s, and starts over after a settled watch', async () => {
  const settled: Steps = [send(bookmark(11)), wait(20_000), fail(reset)];
  await using running = await startInformer({
    watches: [[listed, fail(reset)], ...Array.from({ length: 7 }, () => [fail(reset)]), settled, [hang]],
  });
  await running.clock.advance(5 * minute);
  const times = running.server.requests.map(({ at }) => at);
  const gaps = times.slice(1, 10).map((at, position) => at - (times[position] ?? 0));
  expect(gaps).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 20_000 + 800]);
});

test('[W3] a watch that brings one event and breaks does not start the backoff over', async () => {
  const broken: Steps = [send(bookmark(11)), fail(reset)];
  await using running = await startInformer({ watches: [[listed, fail(reset)], broken] });
  await running.clock.advance(24_800);
  expect(running.server.requests.map(({ at }) => at)).toEqual([0, 800, 2_400, 5_600, 12_000, 24_800]);
});

const always: Record<string, { readonly watches: readonly Steps[]; readonly most: number }> = {
  'the watch always answers 410': { watches: [[listed, fail(expired)]], most: 130 },
  'the watch always answers 500': { watches: [[listed], [fail(apiError(500, 'InternalError'))]], most: 130 },
  'the list always answers 500': { watches: [[fail(apiError(500, 'InternalError'))]], most: 130 },
  'the watch always closes at once': { watches: [[listed], []], most: 130 },
  'the watch always closes after one event': { watches: [[listed], [send(bookmark(11))]], most: 130 },
  'the watch is always reset at once': { watches: [[listed], [fail(reset)]], most: 130 },
  'the watch always sends garbage': { watches: [[listed], [send(bookmark(11)), fail(malformed)]], most: 130 },
  'the watch is always silent': { watches: [[listed], [hang]], most: 45 },
  'the watch always closes after ten seconds': { watches: [[listed], [wait(10_000)]], most: 365 },
};

test.each(Object.entries(always))(
  '[W3] no hot loop: in an hour in which %s',
  async (_, { watches, most }) => {
    await using running = await startInformer({ watches });
    await running.clock.advance(60 * minute);
    expect(running.server.requests.length).toBeGreaterThan(30);
    expect(running.server.requests.length).toBeLessThan(most);
    expect(running.server.checks.length).toBeLessThanOrEqual(running.server.watches.length);
    expect(running.server.underWay).toBeLessThanOrEqual(1);
  },
);

test('[W3] no hot loop: in an hour in which neither streams nor pages are answered', async () => {
  await using running = await startInformer({
    lists: [apiError(500, 'InternalError')],
    watches: [[fail(refused)]],
  });
  await running.clock.advance(60 * minute);
  expect(running.server.lists.length).toBeGreaterThan(100);
  expect(running.server.requests.length).toBeLessThan(130);
});

test('[W3] an outage is logged once for each reason, and once when it is over', async () => {
  const forbidden = apiError(403, 'Forbidden');
  await using running = await startInformer({
    watches: [
      [listed, wait(20_000), fail(reset)],
      ...Array.from({ length: 3 }, () => [fail(reset)]),
      ...Array.from({ length: 3 }, () => [fail(forbidden)]),
      [fail(reset)],
      [wait(1_000), send(bookmark(11)), hang],
    ],
  });
  await running.clock.advance(3 * minute);
  const durationMs = 800 + 1_600 + 3_200 + 6_400 + 12_800 + 25_600 + 30_000 + 30_000 + 1_000;
  const common = { informer: 'widgets', scope: '*' };
  expect(running.log.told).toMatchObject([
    { ...common, level: 'info', message: 'listed', objects: 1 },
    { ...common, level: 'warn', message: 'watch failed, retrying', reason: 'ECONNRESET', retryInMs: 800 },
    { ...common, level: 'warn', reason: '403 Forbidden', error: forbidden.message },
    { ...common, level: 'info', message: 'resolved', durationMs, failures: 8 },
  ]);
  const repeats = running.log.lines.filter(({ level, retryInMs }) => level === 'debug' && retryInMs);
  expect(repeats).toHaveLength(6);
});

test('[W3] the next outage is logged again', async () => {
  const cut: Steps = [send(bookmark(11)), wait(20_000), fail(reset)];
  await using running = await startInformer({
    watches: [[listed, wait(20_000), fail(reset)], cut, cut, [hang]],
  });
  await running.clock.advance(3 * minute);
  expect(running.log.told.map(({ level }) => level)).toEqual([
    'info',
    'warn',
    'info',
    'warn',
    'info',
    'warn',
  ]);
});

test('[W3] an outage is not over while the list works and the watch does not', async () => {
  await using running = await startInformer({
    lists: [page(5, [a1])],
    watches: [[fail(refused)], [fail(expired)]],
  });
  await running.clock.advance(10 * minute);
  expect(running.informer.isSynced()).toBe(true);
  expect(running.log.told.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'info: the server does not stream lists; listing in pages from now on',
    'info: listed',
    'warn: watch failed, retrying',
  ]);
});

test('what the lister gave stays as it was when its object changes', async () => {
  await using running = await startInformer({
    watches: [[listed, wait(1_000), send(modified(widget('a', 11, { colour: 'blue' }))), hang]],
  });
  const before = running.informer.lister.get(keyed('a'));
  await running.clock.advance(1_000);
  expect(before?.colours).toEqual(['red']);
  expect(running.informer.lister.byIndex('colour', 'red')).toEqual([]);
  expect(running.informer.lister.byIndex('colour', 'blue')).toHaveLength(1);
});
