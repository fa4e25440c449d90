import { expect, test } from 'vitest';
import { guardedWatch, SilentWatchError } from '../../src/informer/guarded-watch.ts';
import type { ListWatch } from '../../src/kube/api/list-watch.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { hang, ScriptedListWatch, send, wait } from './scripted-list-watch.ts';
import { bookmark, type Widget } from './widgets.ts';

const options = { sendInitialEvents: false, timeoutSeconds: 300 };
const never = new AbortController().signal;

test('[W3] silence is an error also where closing the request ends it in good order', async () => {
  const clock = new ManualClock();
  const polite: ListWatch<Widget> = {
    list: () => Promise.reject(new Error('not asked for')),
    async *watch(_, signal) {
      yield [bookmark(1)];
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const watch = guardedWatch(polite, options, { clock, signal: never });
  expect((await watch.next()).value).toEqual([bookmark(1)]);
  const next = watch.next().catch((error: unknown) => error);
  await clock.advance(90_000);
  expect(await next).toBeInstanceOf(SilentWatchError);
  expect(clock.pendingTimers).toBe(0);
});

test('[W3] the time that a batch takes to handle is not silence', async () => {
  const clock = new ManualClock();
  const server = new ScriptedListWatch<Widget>(clock, {
    watches: [[send(bookmark(1)), wait(80_000), send(bookmark(2))]],
  });
  const watch = guardedWatch(server, options, { clock, signal: never });
  await watch.next();
  await clock.advance(600_000);
  const next = watch.next();
  await clock.advance(80_000);
  expect((await next).value).toEqual([bookmark(2)]);
});

test('[Q3] a watch that begins after the stop ends at once', async () => {
  const clock = new ManualClock();
  const server = new ScriptedListWatch<Widget>(clock, { watches: [[hang]] });
  const watch = guardedWatch(server, options, { clock, signal: AbortSignal.abort() });
  const end = watch.next().catch(() => 'ended');
  await clock.advance(0);
  expect(clock.pendingTimers).toBe(0);
  expect(await end).toBe('ended');
});

test('leaving the loop closes the request', async () => {
  const clock = new ManualClock();
  const server = new ScriptedListWatch<Widget>(clock, { watches: [[send(bookmark(1)), wait(80_000)]] });
  for await (const _ of guardedWatch(server, options, { clock, signal: never })) break;
  expect(server.underWay).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});
