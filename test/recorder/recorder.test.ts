import { describe, expect, test } from 'vitest';
import { ApiError, NetworkError } from '../../src/kube/errors.ts';
import type { Occurrence } from '../../src/recorder/occurrence.ts';
import { EventRecorder } from '../../src/recorder/recorder.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryEvents } from './memory-events.ts';

interface About {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly reason?: string;
}

function occurrence(
  note: string,
  { namespace = 'home', name = 'colors', reason = 'Healed', ...about }: About = {},
): Occurrence {
  const uid = `uid of ${namespace}/${name}`;
  const regarding = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid };
  return { regarding: { ...regarding, ...about }, type: 'Normal', reason, action: 'Heal', note };
}

/** A running recorder; another one for the same API stands for another process. */
function start(api = new MemoryEvents(), clock = new ManualClock(), isBusy = () => false) {
  const log = new RecordedLog();
  const stopping = new AbortController();
  const recorder = new EventRecorder({
    ...{ api, controller: 'example.com/painter', instance: 'here', clock, random: () => 0, isBusy, log },
  });
  const running = recorder.run(stopping.signal);
  /** And lets the second pass for which they wait for others. */
  const tell = async (...occurrences: readonly Occurrence[]) => {
    for (const each of occurrences) recorder.record(each);
    await clock.advance(1_000);
  };
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { api, clock, log, recorder, tell, stop };
}

describe('[O3] what happens once, and again', () => {
  test('is one Event, with the object, the reason and the time', async () => {
    const { api, tell } = start();
    await tell(occurrence('it was blue'));
    expect([...api.events.values()]).toEqual([
      {
        metadata: { namespace: 'home', name: expect.stringMatching(/^colors\.[0-9a-f]{16}$/) },
        ...occurrence('it was blue'),
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'example.com/painter',
        reportingInstance: 'here',
      },
    ]);
  });

  test('needs no timer while nothing waits', async () => {
    const { clock, tell } = start();
    await tell(occurrence('it was blue'));
    expect(clock.pendingTimers).toBe(0);
  });

  test('is a series, and another text replaces the first', async () => {
    const { api, clock, tell } = start();
    await tell(occurrence('it was blue'));
    await clock.advance(5_000);
    await tell(occurrence('it was blue'));
    expect([...api.events.values()]).toMatchObject([
      { note: 'it was blue', series: { count: 2, lastObservedTime: '2026-01-01T00:00:06.000000Z' } },
    ]);
    await tell(occurrence('it was green'));
    expect(api.told).toEqual([['Healed', 'it was green', 3]]);
    expect(api.requests).toEqual([
      'create events.events.k8s.io',
      'patch events.events.k8s.io',
      'patch events',
    ]);
  });

  test('is one Event for each object and reason', async () => {
    const { api, tell } = start();
    await tell(
      occurrence('a'),
      occurrence('b', { reason: 'Conflict' }),
      occurrence('c', { name: 'sizes' }),
      occurrence('d', { uid: 'of a recreated object' }),
    );
    expect(api.told.map(([, note]) => note)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('is put together with what follows within a second, and waits no longer', async () => {
    const { api, clock, recorder } = start();
    for (let number = 1; number <= 10; number++) {
      recorder.record(occurrence(`${number}`));
      await clock.advance(99);
    }
    expect(api.requests).toEqual([]);
    await clock.advance(10);
    expect(api.told).toEqual([['Healed', '10 (and 9 more)', 10]]);
    expect(api.requests).toHaveLength(1);
  });

  test('is put together while it waits for a request', async () => {
    const { api, tell } = start();
    let answer = (): void => undefined;
    api.before = () => new Promise((resolve) => (answer = resolve));
    await tell(occurrence('1'));
    await tell(...Array.from({ length: 10_000 }, (_, number) => occurrence(`${number + 2}`)));
    api.before = async () => undefined;
    answer();
    await tell();
    expect(api.told).toEqual([['Healed', '10001 (and 9999 more)', 10_001]]);
    expect(api.requests).toHaveLength(2);
  });
});

describe('[O3] the name and the text', () => {
  test('are cut to what the server accepts', async () => {
    const { api, tell } = start();
    await tell(occurrence('ü'.repeat(2_000), { name: `${'x'.repeat(235)}.${'y'.repeat(17)}` }));
    const [event] = api.events.values();
    expect(event?.metadata.name).toMatch(/^x{235}\.[0-9a-f]{16}$/);
    expect(event?.note).toMatch(/^ü+…$/);
    expect(Buffer.byteLength(event?.note ?? '')).toBeLessThanOrEqual(1024);
  });

  test('are cut also where the text says how many more there were', async () => {
    const { api, tell } = start();
    await tell(occurrence('first'), occurrence('ü'.repeat(2_000)));
    const [event] = api.events.values();
    expect(event?.note).toMatch(/^ü+… \(and 1 more\)$/);
    expect(Buffer.byteLength(event?.note ?? '')).toBeLessThanOrEqual(1024);
  });

  test('an Event about an object without a namespace is in default', async () => {
    const { api, tell } = start();
    const { namespace: _, ...regarding } = occurrence('x').regarding;
    await tell({ ...occurrence('x'), regarding: { ...regarding, kind: 'Namespace' } });
    expect([...api.events.keys()]).toEqual([expect.stringMatching(/^default\/colors\./)]);
  });
});

describe('[O3] an Event that is there', () => {
  test('of an earlier process is continued, and no Event is read', async () => {
    const { api, clock, tell, stop } = start();
    await tell(occurrence('first'));
    await tell(occurrence('second'));
    await stop();
    await clock.advance(60_000);
    const second = start(api, clock);
    await second.tell(occurrence('third'));
    await second.tell(occurrence('third'));
    expect(api.told).toEqual([['Healed', 'third', 4]]);
  });

  test('of a replica that led in between is continued with its count, in our words', async () => {
    const first = start();
    await first.tell(occurrence('1 companion'));
    const second = start(first.api, first.clock);
    for (let number = 2; number <= 4; number++) await second.tell(occurrence('2 companions'));
    first.recorder.takeOver();
    await first.tell(occurrence('1 companion'));
    expect(first.api.told).toEqual([['Healed', '1 companion', 5]]);
  });

  test('because the reply to its creation was lost is not counted twice', async () => {
    const { api, clock, tell } = start();
    api.after = async () => {
      api.after = async () => undefined;
      throw new NetworkError('reset', { code: 'ECONNRESET' });
    };
    await tell(occurrence('first'));
    await clock.advance(1_000);
    expect(api.told).toEqual([['Healed', 'first', 1]]);
    const before = api.requests.length;
    await tell(occurrence('first'));
    expect(api.told).toEqual([['Healed', 'first', 2]]);
    expect(api.requests.slice(before)).toEqual(['patch events.events.k8s.io']);
  });

  test('because the reply to a further one was lost is not counted twice', async () => {
    const { api, clock, tell } = start();
    await tell(occurrence('first'));
    api.after = async () => {
      api.after = async () => undefined;
      throw new NetworkError('reset', { code: 'ECONNRESET' });
    };
    await tell(occurrence('first'));
    await clock.advance(1_000);
    expect(api.told).toEqual([['Healed', 'first', 2]]);
  });

  test('no longer, because it expired, is created again', async () => {
    const { api, tell } = start();
    await tell(occurrence('first'));
    api.events.clear();
    await tell(occurrence('second'));
    expect(api.told).toEqual([['Healed', 'second', 1]]);
  });
});

describe('[O3] many Events', () => {
  test('of one object are ten a minute, and then one that says how many there were', async () => {
    const { api, clock, tell } = start();
    for (let number = 1; number <= 30; number++) await tell(occurrence(`${number}`));
    expect(api.requests).toHaveLength(10);
    await clock.advance(31_000);
    expect(api.told).toEqual([['Healed', '30 (and 19 more)', 30]]);
    expect(api.requests).toHaveLength(11);
  });

  test('of one object are ten in every minute, not only in the first', async () => {
    const { api, tell } = start();
    for (let number = 1; number <= 180; number++) await tell(occurrence(`${number}`));
    expect(api.requests).toHaveLength(30);
  });

  test('of many objects are 100 at once and then 10 a second; those that find no room are counted', async () => {
    const { api, clock, recorder, tell } = start();
    const each = Array.from({ length: 1_500 }, (_, number) => occurrence('x', { name: `n${number}` }));
    // What can be told with one that waits needs no room.
    await tell(...each, ...each.slice(0, 1));
    // The first is under way when the others come.
    expect(recorder.dropped).toBe(500);
    await clock.advance(0);
    expect(api.events.size).toBe(100);
    await clock.advance(1_000);
    expect(api.events.size).toBe(110);
    await clock.advance(89_000);
    expect(api.events.size).toBe(1_000);
  });

  test('are 10 a second while companions are written, and the burst follows', async () => {
    let isBusy = true;
    const { api, clock, tell } = start(new MemoryEvents(), new ManualClock(), () => isBusy);
    await tell(...Array.from({ length: 500 }, (_, number) => occurrence('x', { name: `n${number}` })));
    await clock.advance(6_000);
    expect(api.events.size).toBeGreaterThanOrEqual(45);
    expect(api.events.size).toBeLessThanOrEqual(71);
    isBusy = false;
    await clock.advance(1_000);
    expect(api.events.size).toBeGreaterThanOrEqual(145);
  });

  test('of an object that has had its ten do not hold up others', async () => {
    const { api, tell } = start();
    for (let number = 0; number < 20; number++) await tell(occurrence(`${number}`));
    await tell(occurrence('other', { name: 'sizes' }));
    expect(api.told).toContainEqual(['Healed', 'other', 1]);
  });
});

describe('[O3] an Event that cannot be written', () => {
  const refused =
    (status: number, causes: readonly string[] = []) =>
    async () => {
      throw new ApiError('no', { status, causes, reason: status === 403 ? 'Forbidden' : '' });
    };

  test('is retried with growing pauses while the server fails, and then dropped and counted', async () => {
    const { api, clock, recorder, tell } = start();
    api.before = refused(503);
    await tell(occurrence('first'));
    await clock.advance(60_000);
    expect(api.requests).toHaveLength(5);
    expect(recorder.dropped).toBe(1);
    api.before = async () => undefined;
    await tell(occurrence('second'));
    expect(api.told).toEqual([['Healed', 'second', 1]]);
  });

  test('for want of a right is dropped, and the log names the right once, and when it is granted', async () => {
    const { api, log, recorder, tell } = start();
    api.before = refused(403);
    await tell(occurrence('first'), occurrence('second', { name: 'sizes' }));
    expect(recorder.dropped).toBe(2);
    expect(log.told).toMatchObject([
      {
        level: 'warn',
        message: 'Events cannot be written: grant the missing right',
        right: 'create events.events.k8s.io',
        namespace: 'home',
      },
    ]);
    api.before = async () => undefined;
    await tell(occurrence('third'));
    await tell(occurrence('third', { name: 'sizes' }));
    expect(api.told).toEqual([
      ['Healed', 'third', 1],
      ['Healed', 'third', 1],
    ]);
    expect(log.told.slice(1)).toMatchObject([
      {
        level: 'info',
        message: 'resolved',
        right: 'create events.events.k8s.io',
        was: 'Events cannot be written: grant the missing right',
      },
    ]);
  });

  test('for want of a right in one namespace is logged once, however many it writes elsewhere', async () => {
    const { api, log, tell } = start();
    api.before = async (_request, _signal, key) => {
      if (key.startsWith('locked/')) await refused(403)();
    };
    for (let number = 0; number < 4; number++) {
      await tell(occurrence('first', { namespace: 'locked' }), occurrence('second', { name: `n${number}` }));
    }
    expect(log.told).toMatchObject([{ level: 'warn', namespace: 'locked' }]);
  });

  test('for want of a right in many namespaces is logged for ten of them', async () => {
    const { api, log, tell } = start();
    api.before = refused(403);
    await tell(
      ...Array.from({ length: 50 }, (_, number) => occurrence('x', { namespace: `team-${number}` })),
    );
    expect(log.told.map(({ namespace }) => namespace)).toEqual(
      Array.from({ length: 10 }, (_, number) => `team-${number}`),
    );
  });

  test('because this process no longer leads is dropped and not retried', async () => {
    const { api, clock, recorder, tell } = start();
    api.before = async () => {
      throw new NetworkError('it may not be sent', { code: 'ABORTED' });
    };
    await tell(occurrence('first'));
    expect([api.requests.length, recorder.dropped, clock.pendingTimers]).toEqual([1, 1, 0]);
  });

  test('because its namespace is going or gone is dropped without a word', async () => {
    const { api, log, tell } = start();
    api.before = refused(403, ['NamespaceTerminating']);
    await tell(occurrence('first'));
    api.before = refused(404);
    await tell(occurrence('second'));
    expect(log.told).toEqual([]);
    expect(api.requests).toHaveLength(2);
  });
});

describe('[O3] a stop', () => {
  test('writes what it may at once, and no more', async () => {
    const { api, clock, recorder, tell, stop } = start();
    await tell(...Array.from({ length: 99 }, (_, number) => occurrence('x', { name: `n${number}` })));
    recorder.record(occurrence('last but one', { name: 'a' }));
    recorder.record(occurrence('last', { name: 'b' }));
    await stop();
    expect(api.told.at(-1)).toEqual(['Healed', 'last but one', 1]);
    expect(recorder.dropped).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  test('waits one second for a reply, and for nothing after it', async () => {
    const { api, clock, recorder, tell, stop } = start();
    api.before = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new NetworkError('aborted', { code: 'ABORTED' })));
      });
    await tell(occurrence('first'), occurrence('second', { name: 'sizes' }));
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await clock.advance(999);
    expect(isStopped).toBe(false);
    await clock.advance(1);
    await stopped;
    expect([api.requests.length, recorder.dropped]).toEqual([1, 2]);
    recorder.record(occurrence('third'));
    expect(recorder.dropped).toBe(3);
  });

  test('makes an end of retries', async () => {
    const { api, clock, tell, stop } = start();
    api.before = async () => {
      throw new ApiError('overloaded', { status: 429 });
    };
    await tell(occurrence('first'));
    await stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
