import { expect, test } from 'vitest';
import { ApiError } from '../../src/kube/errors.ts';
import { startInformer } from './running-informer.ts';
import { fail, hang, type ListReply, send, type WatchStep, wait } from './scripted-list-watch.ts';
import {
  added,
  apiError,
  bookmark,
  expired,
  initialEventsEnd,
  keyed,
  modified,
  page,
  refused,
  reset,
  type Widget,
  widget,
} from './widgets.ts';

type Steps = readonly WatchStep<Widget>[];

const second = 1_000;
const minute = 60 * second;
const a1 = widget('a', 1);
const b2 = widget('b', 2);
/** The old history: `a` and `b` up to version 100. */
const before = send(added(a1), added(b2), initialEventsEnd(100));
/**
 * The new one, up to version 20: `a` has the version that it had, and another content; `b` is gone,
 * `c` is new.
 */
const other = widget('a', 1, { colour: 'blue' });
const after: Steps = [send(added(other), added(widget('c', 15)), initialEventsEnd(20)), hang];
const behind: ListReply<Widget> = page(20, []);

const restarts: Record<
  string,
  { readonly first: Steps; readonly checks?: readonly ListReply<Widget>[]; readonly noticedAt: number }
> = {
  'after a broken watch': { first: [before, wait(second), fail(reset)], checks: [behind], noticedAt: 1_800 },
  'after a watch that ended in good order': {
    first: [before, wait(minute)],
    checks: [behind],
    noticedAt: minute,
  },
  'after a watch that closed at once': { first: [before], checks: [behind], noticedAt: 800 },
  'behind a watch that stays open and silent': {
    first: [before, hang],
    checks: [behind],
    noticedAt: 90 * second,
  },
  'once the server answers again': {
    first: [before, fail(reset)],
    checks: [reset, apiError(503, 'ServiceUnavailable'), behind],
    noticedAt: 800 + 1_600 + 3_200,
  },
  'by an older bookmark': { first: [before, wait(second), send(bookmark(20)), hang], noticedAt: second },
  'by an older event': {
    first: [before, wait(second), send(added(widget('c', 15))), hang],
    noticedAt: second,
  },
  'by a refusal of the resourceVersion': {
    first: [
      before,
      wait(second),
      fail(
        new ApiError('Timeout: Too large resource version: 100, current: 20', {
          status: 504,
          reason: 'Timeout',
          causes: ['ResourceVersionTooLarge'],
        }),
      ),
    ],
    noticedAt: second,
  },
};

test.each(Object.entries(restarts))(
  '[W6] a history that starts over is noticed %s: everything is listed and handled again',
  async (_, { first, checks, noticedAt }) => {
    await using running = await startInformer({ watches: [first, after], ...(checks && { checks }) });
    running.replay.told.length = 0;
    await running.clock.advance(noticedAt);
    expect(running.cached).toEqual(['default/a@1', 'default/b@2']);
    expect(running.log.told.at(-1)).toMatchObject({
      level: 'warn',
      message: "the API server's history started over; listing everything again",
    });

    // The longest of the backoffs: there were three failures before.
    await running.clock.advance(6_400);
    expect(running.replay.told).toEqual([
      'history restarted',
      'update default/a@1->1',
      'add default/c@15',
      'delete default/b@2 (tombstone)',
    ]);
    expect(running.replay.faults).toEqual([]);
    expect(running.server.watches.map((watch) => watch.sendInitialEvents)).toEqual([true, true]);
    // The same uid and resourceVersion, and yet not what the store held before.
    expect(running.informer.lister.get(keyed('a'))?.colours).toEqual(['blue']);
    expect(running.informer.lister.byIndex('colour', 'red').map(({ key }) => key)).toEqual([keyed('c')]);
  },
);

test('[W6] a list older than what was seen before is discarded, and everything listed once more', async () => {
  await using running = await startInformer({ watches: [[before, wait(second), fail(expired)], after] });
  running.replay.told.length = 0;
  await running.clock.advance(minute);
  expect(running.server.requests).toHaveLength(3);
  expect(running.replay.told.slice(0, 2)).toEqual(['history restarted', 'update default/a@1->1']);
  expect(running.informer.lister.get(keyed('a'))?.colours).toEqual(['blue']);
});

test('[W6] the same where lists come in pages', async () => {
  await using running = await startInformer({
    lists: [page(100, [a1, b2]), page(20, [other])],
    watches: [[fail(refused)], [fail(expired)], [hang]],
  });
  running.replay.told.length = 0;
  await running.clock.advance(minute);
  expect(running.replay.told).toEqual([
    'history restarted',
    'update default/a@1->1',
    'delete default/b@2 (tombstone)',
  ]);
  expect(running.informer.lister.get(keyed('a'))?.colours).toEqual(['blue']);
});

test('[W6] an ordinary relist is no restart: what is unchanged is neither converted nor handled', async () => {
  await using running = await startInformer({
    checks: [page(100, [])],
    watches: [
      [before, wait(second), fail(reset)],
      [wait(second), fail(expired)],
      [send(added(a1), added(b2), initialEventsEnd(100)), hang],
    ],
  });
  running.replay.told.length = 0;
  const item = running.informer.lister.get(keyed('a'));
  await running.clock.advance(minute);
  expect(running.server.checks).toHaveLength(1);
  expect(running.server.watches).toHaveLength(3);
  expect(running.replay.told).toEqual([]);
  expect(running.informer.lister.get(keyed('a'))).toBe(item);
});

test('[W6] after a restart the informer follows the new history as it did the old one', async () => {
  await using running = await startInformer({
    checks: [behind, page(22, [])],
    watches: [
      [before, fail(reset)],
      [send(added(other), initialEventsEnd(20)), send(modified(widget('a', 21))), wait(minute)],
      [send(modified(widget('a', 22))), hang],
    ],
  });
  await running.clock.advance(2 * minute);
  expect(running.server.watches[2]).toMatchObject({ sendInitialEvents: false, resourceVersion: '21' });
  expect(running.replay.told.slice(-2)).toEqual(['update default/a@1->21', 'update default/a@21->22']);
  expect(running.log.told.at(-1)).toMatchObject({ level: 'info', message: 'resolved' });
});

test('[W6] no hot loop: in an hour in which every watch sends something older', async () => {
  await using running = await startInformer({ watches: [[before, send(bookmark(20))]] });
  await running.clock.advance(60 * minute);
  expect(running.server.requests.length).toBeGreaterThan(30);
  expect(running.server.requests.length).toBeLessThan(130);
});

test('[W6] a handler that fails when the history starts over stops neither the informer nor the others', async () => {
  await using running = await startInformer({ watches: [[before, fail(reset)], after], checks: [behind] });
  running.replay.historyRestarted = () => {
    throw new Error('handler fault');
  };
  await running.clock.advance(minute);
  expect(running.cached).toEqual(['default/a@1', 'default/c@15']);
  expect(running.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
});
