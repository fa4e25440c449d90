import { expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { RunningInformer, startInformer } from './running-informer.ts';
import { fail, hang, ScriptedListWatch, send, wait } from './scripted-list-watch.ts';
import { added, apiError, bookmark, expired, initialEventsEnd, type Widget, widget } from './widgets.ts';

const listed = send(added(widget('a', 1)), initialEventsEnd(10));
const second = 1_000;

test('[O1] activity is the last time that the server sent something, a bookmark included', async () => {
  await using running = await startInformer({
    watches: [[wait(5 * second), listed, wait(20 * second), send(bookmark(12)), hang]],
  });
  const { informer, clock } = running;
  await clock.advance(4 * second);
  expect(informer.heardAt()).toBe(0);
  await clock.advance(2 * second);
  expect(informer.heardAt()).toBe(5 * second);
  await clock.advance(24 * second);
  expect(informer.heardAt()).toBe(25 * second);
  expect(informer.silentMs()).toBe(5 * second);
});

test('[O1] of several scopes the quietest counts, and none before it runs', async () => {
  const clock = new ManualClock();
  const server = (...steps: Parameters<typeof send>) =>
    new ScriptedListWatch<Widget>(clock, {
      watches: [[listed, ...steps.flatMap(() => [wait(9 * second), send(bookmark(12))]), hang]],
    });
  const servers = new Map([
    ['busy', server(bookmark(11), bookmark(12))],
    ['quiet', server()],
  ]);
  await using running = new RunningInformer(clock, servers);
  expect(running.informer.heardAt()).toBeUndefined();
  await running.start();
  await clock.advance(20 * second);
  expect(running.informer.heardAt()).toBe(0);
  expect(running.informer.silentMs()).toBe(20 * second);
});

test('[O2] a server that fails is not silence: between two attempts nothing is open', async () => {
  const down = fail(apiError(503, 'ServiceUnavailable', 600 * second));
  await using running = await startInformer({
    watches: [[listed, down], [hang]],
    checks: [apiError(503, 'x', 600 * second)],
  });
  await running.clock.advance(590 * second);
  expect(running.informer.heardAt()).toBe(0);
  expect(running.informer.silentMs()).toBe(0);
});

test('[O2] what a server left open before it failed does not count as silence afterwards', async () => {
  const down = fail(apiError(503, 'ServiceUnavailable', 600 * second));
  await using running = await startInformer({ watches: [[listed, fail(expired)], [down], [hang]] });
  await running.clock.advance(620 * second);
  expect(running.informer.heardAt()).toBe(0);
  expect(running.informer.silentMs()).toBeLessThan(30 * second);
});

test('[O1] a part of a list is activity, and so is the answer before a watch is resumed', async () => {
  await using running = await startInformer({
    watches: [
      [wait(5 * second), send(added(widget('a', 1))), wait(5 * second), listed, wait(60 * second)],
      [hang],
    ],
  });
  await running.clock.advance(7 * second);
  expect(running.informer.heardAt()).toBe(5 * second);
  await running.clock.advance(73 * second);
  expect(running.informer.heardAt()).toBe(70 * second);
});

test('[O1] each restart has its reason', async () => {
  const running = await startInformer({
    watches: [
      [listed, wait(60 * second)],
      [send(bookmark(12)), fail(expired)],
      [send(initialEventsEnd(20)), wait(20 * second), fail(apiError(500, 'InternalError'))],
      [send(bookmark(15))],
      [send(initialEventsEnd(15)), hang],
    ],
  });
  await running.clock.advance(180 * second);
  expect(running.restarts).toEqual(['ended', 'expired', 'failed', 'history', 'silent']);
  await running.stop();
});
