import { expect, test } from 'vitest';
import { startInformer } from './running-informer.ts';
import { fail, hang, send, wait } from './scripted-list-watch.ts';
import {
  added,
  apiError,
  bookmark,
  deleted,
  expired,
  initialEventsEnd,
  keyed,
  modified,
  page,
  refused,
  reset,
  storeWidget,
  type Widget,
  widget,
} from './widgets.ts';

const a1 = widget('a', 1);
const b2 = widget('b', 2);

test('[W2] the initial list streams: nothing is seen before its end, all of it after', async () => {
  await using running = await startInformer({
    watches: [[send(added(a1)), wait(100), send(added(b2)), wait(100), send(initialEventsEnd(9)), hang]],
  });
  const { server } = running;
  await running.clock.advance(150);
  expect(running.cached).toEqual([]);
  expect(running.replay.told).toEqual([]);
  expect(running.informer.isSynced()).toBe(false);

  await running.clock.advance(50);
  expect(running.cached).toEqual(['default/a@1', 'default/b@2']);
  expect(running.replay.told).toEqual(['add default/a@1', 'add default/b@2']);
  expect(running.informer.isSynced()).toBe(true);
  expect(server.requests.map((request) => request.call)).toEqual(['watch']);
  expect(server.watches[0]).toMatchObject({ sendInitialEvents: true });
  expect(server.watches[0]?.resourceVersion).toBeUndefined();
});

test('[W2] changes that come before the end of the streamed list are part of it, later ones are not', async () => {
  await using running = await startInformer({
    watches: [
      [
        send(
          added(a1),
          added(b2),
          modified(widget('a', 3)),
          deleted(b2),
          initialEventsEnd(4),
          modified(widget('a', 5)),
        ),
        hang,
      ],
    ],
  });
  expect(running.replay.told).toEqual(['add default/a@3', 'update default/a@3->5']);
  expect(running.cached).toEqual(['default/a@5']);
});

test('[W2] handlers are called for the first list only when the store holds all of it', async () => {
  const seen: number[] = [];
  await using running = await startInformer({
    watches: [[wait(10), send(added(a1), added(b2), initialEventsEnd(9)), hang]],
  });
  const { replay } = running;
  replay.add = () => seen.push(running.informer.lister.size);
  await running.clock.advance(10);
  expect(seen).toEqual([2, 2]);
});

test('[W2] a broken streamed list leaves nothing behind and starts from scratch', async () => {
  await using running = await startInformer({
    watches: [
      [send(added(a1)), fail(reset)],
      [send(added(b2), initialEventsEnd(9)), hang],
    ],
  });
  const { server } = running;
  await running.clock.advance(800);
  expect(running.cached).toEqual(['default/b@2']);
  expect(server.watches[1]).toMatchObject({ sendInitialEvents: true });
  expect(server.watches[1]?.resourceVersion).toBeUndefined();
});

const refusals = [refused, apiError(400, 'BadRequest')];

test.each(refusals)(
  '[W2] a server that refuses to stream ($status) is listed in pages, and this is remembered',
  async (error) => {
    await using running = await startInformer({
      lists: [page(5, [a1], 'next'), page(5, [b2]), page(7, [a1])],
      watches: [[fail(error)], [fail(expired)], [hang]],
    });
    const { server } = running;
    expect(running.cached).toEqual(['default/a@1', 'default/b@2']);
    expect(server.lists).toEqual([{ limit: 10 }, { limit: 100, continue: 'next' }]);
    expect(server.watches[1]).toMatchObject({ sendInitialEvents: false, resourceVersion: '5' });

    // The watch from 5 is answered with 410: the relist does not try to stream again.
    await running.clock.advance(800);
    expect(server.requests.map(({ call }) => call)).toEqual([
      'watch',
      'list',
      'list',
      'watch',
      'list',
      'watch',
    ]);
    expect(server.watches[2]).toMatchObject({ sendInitialEvents: false, resourceVersion: '7' });
  },
);

const ignorant = {
  'sends a bookmark of the ordinary kind': [send(added(a1)), send(bookmark(3)), hang],
  'falls silent after the objects': [send(added(a1)), hang],
  'has no objects, and sends nothing': [hang],
  'closes the watch': [send(added(a1))],
} as const;

test.each(Object.entries(ignorant))(
  '[W2] a server that ignores the request to stream, and %s, is listed in pages',
  async (_, steps) => {
    await using running = await startInformer({
      lists: [page(5, [a1, b2])],
      watches: [steps, [hang]],
    });
    await running.clock.advance(90_000);
    expect(running.cached).toEqual(['default/a@1', 'default/b@2']);
    expect(running.server.watches[1]).toMatchObject({ sendInitialEvents: false, resourceVersion: '5' });
    expect(running.server.underWay).toBe(1);
  },
);

test('[W3] a 410 in the middle of a paged list starts again from the first page', async () => {
  await using running = await startInformer({
    lists: [page(5, [a1], 'next'), expired, page(8, [b2])],
    watches: [[fail(refused)], [hang]],
  });
  const { server } = running;
  expect(running.cached).toEqual([]);
  await running.clock.advance(800);
  expect(server.lists).toEqual([{ limit: 10 }, { limit: 100, continue: 'next' }, { limit: 10 }]);
  expect(running.cached).toEqual(['default/b@2']);
});

test('[W2] readers see the old list until the new one is complete, then only the new one', async () => {
  await using running = await startInformer({
    watches: [
      [send(added(a1), added(b2), initialEventsEnd(5)), wait(1_000), fail(expired)],
      [send(added(widget('a', 6))), wait(1_000), send(added(widget('c', 7)), initialEventsEnd(8)), hang],
    ],
  });
  await running.clock.advance(2_500);
  expect(running.cached).toEqual(['default/a@1', 'default/b@2']);
  const during: (readonly string[])[] = [];
  running.replay.update = () => during.push(running.cached);
  await running.clock.advance(1_000);
  expect(during).toEqual([['default/a@6', 'default/c@7']]);
});

test('[W2] a relist tells the difference: unchanged objects not at all, missing ones as tombstones', async () => {
  await using running = await startInformer({
    watches: [
      [send(added(a1), added(b2), added(widget('c', 3)), initialEventsEnd(5)), fail(expired)],
      [send(added(a1), added(widget('b', 6)), added(widget('d', 7)), initialEventsEnd(8)), hang],
    ],
  });
  running.replay.told.length = 0;
  await running.clock.advance(800);
  expect(running.replay.told).toEqual([
    'update default/b@2->6',
    'add default/d@7',
    'delete default/c@3 (tombstone)',
  ]);
});

test('[W2] an object recreated while the watch was away is a deletion and an addition', async () => {
  const again = widget('a', 7, { uid: 'another' });
  await using running = await startInformer({
    watches: [
      [send(added(a1), initialEventsEnd(5)), fail(expired)],
      [send(added(again), initialEventsEnd(8)), hang],
    ],
  });
  await running.clock.advance(800);
  expect(running.replay.told.slice(1)).toEqual(['delete default/a@1 (tombstone)', 'add default/a@7']);
});

test('[W2] a version that is known is not converted again', async () => {
  const converted: string[] = [];
  const transform = (raw: Widget) => {
    converted.push(`${raw.metadata.name}@${raw.metadata.resourceVersion}`);
    return storeWidget(raw);
  };
  await using running = await startInformer({
    transform,
    watches: [
      [send(added(a1), added(b2), initialEventsEnd(2)), send(modified(b2)), fail(expired)],
      [send(added(a1), added(widget('b', 6)), initialEventsEnd(8)), hang],
    ],
  });
  await running.clock.advance(800);
  expect(converted).toEqual(['a@1', 'b@2', 'b@6']);
  expect(running.replay.told).toEqual(['add default/a@1', 'add default/b@2', 'update default/b@2->6']);
});

test('what the store holds is frozen, all the way down', async () => {
  await using running = await startInformer({
    watches: [[send(added(a1), initialEventsEnd(5)), hang]],
  });
  const item = running.informer.lister.get(keyed('a'));
  expect(Object.isFrozen(item)).toBe(true);
  expect(Object.isFrozen(item?.colours)).toBe(true);
});
