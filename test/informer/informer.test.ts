import { describe, expect, test } from 'vitest';
import type { Timer } from '../../src/clock/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RunningInformer, type Script, startInformer } from './running-informer.ts';
import { fail, hang, ScriptedListWatch, send, wait } from './scripted-list-watch.ts';
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
const listed = send(added(a1), added(b2), initialEventsEnd(10));

describe('[W3] of several scopes', () => {
  const refusing = apiError(403, 'Forbidden');
  const scopes = (clock: ManualClock, ...scripts: readonly Script[]) =>
    new RunningInformer(
      clock,
      new Map(
        scripts.map((script, scope) => [`team-${scope}`, new ScriptedListWatch<Widget>(clock, script)]),
      ),
    );

  test('one that refuses is not waited for, and is listed once it may be', async () => {
    const clock = new ManualClock();
    const refused = { watches: [[fail(refusing)], [send(added(b2), initialEventsEnd(10)), hang]] };
    await using running = scopes(clock, refused, {
      watches: [[send(added(a1), initialEventsEnd(10)), hang]],
    });
    await running.start();
    expect([running.informer.isSynced(), running.cached]).toEqual([true, ['default/a@1']]);
    // `--once` and the commands that only look need all of it.
    expect(running.informer.isComplete()).toBe(false);
    await clock.advance(60_000);
    expect([running.informer.isComplete(), running.cached]).toEqual([true, ['default/a@1', 'default/b@2']]);
    expect(running.replay.told).toEqual(['add default/a@1', 'add default/b@2']);
  });

  test('one that refuses only after the others are listed is not waited for either', async () => {
    const clock = new ManualClock();
    await using running = scopes(
      clock,
      { watches: [[wait(1_000), fail(refusing)]] },
      { watches: [[send(added(a1), initialEventsEnd(10)), hang]] },
    );
    await running.start();
    expect(running.informer.isSynced()).toBe(false);
    await clock.advance(1_000);
    expect([running.informer.isSynced(), running.cached]).toEqual([true, ['default/a@1']]);
  });

  test.each([
    ['one that fails', [apiError(503, 'ServiceUnavailable')], [a1]],
    ['all, if none may be listed,', [refusing, refusing], []],
  ])('%s is waited for', async (_what, failures, present) => {
    const clock = new ManualClock();
    const failing = failures.map((failure) => ({ watches: [[fail(failure)]] }));
    const others = present.map((object) => ({
      watches: [[send(added(object), initialEventsEnd(10)), hang]],
    }));
    await using running = scopes(clock, ...failing, ...others);
    await running.start();
    await clock.advance(60_000);
    expect(running.informer.isSynced()).toBe(false);
  });
});

describe('handlers', () => {
  test('are called for additions, updates with the old item, and deletions whose last state is known', async () => {
    await using running = await startInformer({
      watches: [
        [listed, send(added(widget('c', 11)), modified(widget('a', 12)), deleted(widget('b', 13))), hang],
      ],
    });
    expect(running.replay.told.slice(2)).toEqual([
      'add default/c@11',
      'update default/a@1->12',
      'delete default/b@2',
    ]);
  });

  test('hear nothing of a repeated event, of a deletion of what is unknown, or of a bookmark', async () => {
    const a11 = widget('a', 11);
    await using running = await startInformer({
      watches: [
        [
          listed,
          send(modified(a11), modified(a11), added(a11)),
          send(deleted(widget('z', 12)), bookmark(13)),
          hang,
        ],
      ],
    });
    expect(running.replay.told.slice(2)).toEqual(['update default/a@1->11']);
    expect(running.replay.faults).toEqual([]);
  });

  test('hear of a recreation within a watch as a deletion and an addition', async () => {
    await using running = await startInformer({
      watches: [[listed, send(modified(widget('a', 11, { uid: 'another' }))), hang]],
    });
    expect(running.replay.told.slice(2)).toEqual(['delete default/a@1 (tombstone)', 'add default/a@11']);
  });

  test('that throw are logged, and stop neither the informer nor the others', async () => {
    const clock = new ManualClock();
    const server = new ScriptedListWatch<Widget>(clock, {
      watches: [[listed, send(deleted(widget('a', 11))), hang]],
    });
    const running = new RunningInformer(clock, new Map([['*', server]]));
    await using _ = running;
    const broken = () => {
      throw new Error('handler fault');
    };
    running.informer.addHandler({ add: broken, update: broken, delete: broken });
    const second: string[] = [];
    running.informer.addHandler({
      add: (item) => second.push(item.key),
      update: broken,
      delete: (item) => second.push(`-${item.key}`),
    });
    await running.start();

    expect(second).toEqual(['default/a', 'default/b', '-default/a']);
    expect(running.cached).toEqual(['default/b@2']);
    const errors = running.log.lines.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([{ key: 'default/a' }, { key: 'default/b' }, { key: 'default/a' }]);
  });

  test('are refused once the informer runs', async () => {
    await using running = await startInformer({ watches: [[listed, hang]] });
    expect(() => running.informer.addHandler(running.replay)).toThrow('before run()');
  });
});

describe('the life of an informer', () => {
  test('it is run once', async () => {
    await using running = await startInformer({ watches: [[listed, hang]] });
    await expect(running.informer.run(running.signal)).rejects.toThrow('only once');
  });

  test('whenSynced resolves when the handlers know of the first list, and at once from then on', async () => {
    await using running = await startInformer({ watches: [[wait(100), listed, hang]] });
    const synced: number[] = [];
    const patient = running.informer.whenSynced(running.signal).then(() => synced.push(running.clock.now()));
    await running.clock.advance(500);
    expect(synced).toEqual([100]);
    await patient;
    await running.informer.whenSynced(running.signal);
  });

  test('whenSynced resolves when its signal aborts, with the informer still unsynced', async () => {
    await using running = await startInformer({ watches: [[hang]] });
    await running.informer.whenSynced(AbortSignal.abort());
    const patience = new AbortController();
    const waiting = running.informer.whenSynced(patience.signal);
    patience.abort();
    await waiting;
    expect(running.informer.isSynced()).toBe(false);
  });

  const moments: Record<string, Script> = {
    'in the middle of a streamed list': { watches: [[send(added(a1)), hang]] },
    'in the middle of a paged list': { watches: [[fail(refused)]], lists: [page(5, [a1], 'next'), 'hang'] },
    'while it waits to list again': { watches: [[fail(refused)]], lists: [apiError(500, 'InternalError')] },
    'while it watches': { watches: [[listed, hang]] },
    'while it watches and events come': { watches: [[listed, send(modified(widget('a', 11))), wait(1e6)]] },
    'while it waits to watch again': { watches: [[listed, fail(reset)]] },
    'while it waits to relist': { watches: [[listed, fail(expired)]] },
  };

  test.each(Object.entries(moments))('stopped %s, it leaves nothing behind', async (_, script) => {
    const running = await startInformer(script);
    const logged = running.log.lines.length;
    await running.stop();
    expect(running.log.lines).toHaveLength(logged);
    expect(running.clock.pendingTimers).toBe(0);
    expect(running.server.underWay).toBe(0);
    const requests = running.server.requests.length;
    await running.clock.advance(3_600_000);
    expect(running.server.requests).toHaveLength(requests);
  });

  test('stopped before it begins, it asks nothing', async () => {
    const clock = new ManualClock();
    const server = new ScriptedListWatch<Widget>(clock, { watches: [[hang]] });
    const running = new RunningInformer(clock, new Map([['*', server]]));
    await running.stop();
    await running.start();
    await running.stop();
    expect(server.requests).toEqual([]);
  });
});

describe('several list-watches, one store', () => {
  const one = widget('x', 1, { namespace: 'one' });
  const two = widget('x', 2, { namespace: 'two' });

  function informerOn(
    clock: ManualClock,
    scripts: Readonly<Record<string, Pick<Script, 'watches'>>>,
  ): RunningInformer {
    const servers = Object.entries(scripts).map(
      ([name, script]) => [name, new ScriptedListWatch<Widget>(clock, script)] as const,
    );
    return new RunningInformer(clock, new Map(servers));
  }

  test('[P2] it has synced when all have', async () => {
    await using running = informerOn(new ManualClock(), {
      one: { watches: [[send(added(one), initialEventsEnd(5)), hang]] },
      two: { watches: [[wait(1_000), send(added(two), initialEventsEnd(6)), hang]] },
    });
    let synced = false;
    const patient = running.informer.whenSynced(running.signal).then(() => {
      synced = true;
    });
    await running.start();
    expect(running.cached).toEqual(['one/x@1']);
    expect(running.informer.isSynced() || synced).toBe(false);
    await running.clock.advance(1_000);
    await patient;
    expect(running.cached).toEqual(['one/x@1', 'two/x@2']);
    expect(running.informer.isSynced()).toBe(true);
    expect(running.informer.lister.get(keyed('x', 'two'))?.resourceVersion).toBe('2');
    expect(running.informer.lister.byIndex('colour', 'red')).toHaveLength(2);
    expect(running.informer.lister.size).toBe(2);
  });

  test('[P2] a relist of one touches nothing of the others', async () => {
    await using running = informerOn(new ManualClock(), {
      one: {
        watches: [
          [send(added(one), initialEventsEnd(5)), fail(expired)],
          [send(initialEventsEnd(7)), hang],
        ],
      },
      two: { watches: [[send(added(two), initialEventsEnd(6)), hang]] },
    });
    await running.start();
    await running.clock.advance(1_000);
    expect(running.replay.told.slice(2)).toEqual(['delete one/x@1 (tombstone)']);
    expect(running.cached).toEqual(['two/x@2']);
  });

  test('[P2] one that fails is named in the log, and the others go on', async () => {
    await using running = informerOn(new ManualClock(), {
      one: { watches: [[fail(apiError(403, 'Forbidden'))]] },
      two: {
        watches: [
          [
            send(added(two), initialEventsEnd(6)),
            wait(60_000),
            send(deleted(widget('x', 7, { namespace: 'two' }))),
            hang,
          ],
        ],
      },
    });
    await running.start();
    await running.clock.advance(60_000);
    expect(running.cached).toEqual([]);
    expect(running.replay.told).toEqual(['add two/x@2', 'delete two/x@2']);
    const warnings = running.log.lines.filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ scope: 'one', reason: '403 Forbidden' }]);
  });
});

/** Time passes only while `work` is done, and each zero timer begins a new turn. */
class WorkingClock extends ManualClock {
  readonly turns = [0];
  #worked = 0;

  work(ms: number): void {
    this.#worked += ms;
    this.turns.push((this.turns.pop() ?? 0) + ms);
  }

  override now(): number {
    return super.now() + this.#worked;
  }

  override setTimer(delayMs: number, callback: () => void): Timer {
    return super.setTimer(delayMs, () => {
      this.turns.push(0);
      callback();
    });
  }
}

describe('[W2] no turn of the event loop takes more than 20 ms', () => {
  const many = Array.from({ length: 100 }, (_, number) => widget(`w${number}`, number + 1));
  const changed = many.map((_, number) => modified(widget(`w${number}`, number + 201)));
  const lists = {
    'a streamed list': { watches: [[send(...many.map(added), initialEventsEnd(200)), hang]] },
    'a paged list': { watches: [[fail(refused)], [hang]], lists: [page(200, many)] },
    'many small batches': {
      watches: [[...many.map((object) => send(added(object))), send(initialEventsEnd(200)), hang]],
    },
    'a burst of changes': { watches: [[send(initialEventsEnd(10)), send(...changed), hang]] },
  };

  test.each(Object.entries(lists))('in %s', async (_, script) => {
    const clock = new WorkingClock();
    const transform = (raw: Widget) => {
      clock.work(3);
      return storeWidget(raw);
    };
    await using running = await startInformer({ ...script, clock, transform });
    expect(running.informer.lister.size).toBe(100);
    expect(Math.max(...clock.turns)).toBeLessThanOrEqual(20);
    expect(clock.turns.length).toBeGreaterThan(15);
    expect(clock.turns.filter((ms) => ms > 0).length).toBeLessThan(35);
  });

  test('in the handlers, at the first list and at a relist that finds everything gone', async () => {
    const clock = new WorkingClock();
    const server = new ScriptedListWatch<Widget>(clock, {
      watches: [
        [send(...many.map(added), initialEventsEnd(200)), wait(1_000), fail(expired)],
        [send(initialEventsEnd(300)), hang],
      ],
    });
    await using running = new RunningInformer(clock, new Map([['*', server]]));
    running.informer.addHandler({
      add: () => clock.work(3),
      update: () => clock.work(3),
      delete: () => clock.work(3),
    });
    await running.start();
    expect(running.replay.told).toHaveLength(100);
    await running.clock.advance(10_000);
    expect(running.replay.told).toHaveLength(200);
    expect(Math.max(...clock.turns)).toBeLessThanOrEqual(20);
  });

  test('and a stop between two turns is heeded', async () => {
    const clock = new WorkingClock();
    const stop = new AbortController();
    const told: string[] = [];
    const server = new ScriptedListWatch<Widget>(clock, {
      watches: [[send(...many.map(added), initialEventsEnd(200)), hang]],
    });
    const running = new RunningInformer(clock, new Map([['*', server]]));
    running.informer.addHandler({
      add: (item) => {
        clock.work(3);
        told.push(item.key);
        stop.abort();
      },
      update: () => undefined,
      delete: () => undefined,
    });
    await running.informer.run(stop.signal);
    expect(told.length).toBeLessThan(10);
    expect(running.informer.isSynced()).toBe(false);
    expect(clock.pendingTimers).toBe(0);
    expect(server.underWay).toBe(0);
  });
});
