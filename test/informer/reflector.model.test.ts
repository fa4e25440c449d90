import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { ModelServer } from './model-server.ts';
import { RunningInformer } from './running-informer.ts';
import { apiError, expired, malformed, reset } from './widgets.ts';

const name = fc.constantFrom('a', 'b', 'c');
const colour = fc.constantFrom('red', 'green', 'blue');
const error = fc.constantFrom(
  reset,
  malformed,
  expired,
  apiError(401, 'Unauthorized'),
  apiError(429, 'TooManyRequests', 3_000),
  apiError(500, 'InternalError'),
);

type Happening = readonly [what: string, happen: (server: ModelServer, clock: ManualClock) => unknown];
const happening = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(name, colour).map(([n, c]): Happening => [`write ${n} ${c}`, (s) => s.write(n, c)]),
  },
  { weight: 4, arbitrary: name.map((n): Happening => [`delete ${n}`, (s) => s.delete(n)]) },
  {
    weight: 2,
    arbitrary: name.map(
      (n): Happening => [
        `recreate ${n}`,
        (s) => {
          s.delete(n);
          s.write(n, 'red');
        },
      ],
    ),
  },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(0, 500, 5_000, 40_000, 100_000)
      .map((ms): Happening => [`pass ${ms} ms`, (_, clock) => clock.advance(ms)]),
  },
  { weight: 1, arbitrary: fc.constant<Happening>(['compact', (s) => s.compact()]) },
  { weight: 1, arbitrary: fc.constant<Happening>(['back up', (s) => s.backUp()]) },
  { weight: 2, arbitrary: fc.constant<Happening>(['restore', (s) => s.restore()]) },
  { weight: 1, arbitrary: fc.constant<Happening>(['bookmarks', (s) => s.sendBookmarks()]) },
  { weight: 2, arbitrary: error.map((e): Happening => [`cut: ${e.message}`, (s) => s.cut(e)]) },
  { weight: 1, arbitrary: fc.constant<Happening>(['close', (s) => s.cut('closed')]) },
  { weight: 1, arbitrary: fc.constant<Happening>(['silence', (s) => s.silence()]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(error, fc.integer({ min: 1, max: 3 }))
      .map(([e, count]): Happening => [`fail ${count}: ${e.message}`, (s) => s.failNext(e, count)]),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('yes', 'refused', 'ignored').map(
      (streaming): Happening => [
        `streaming: ${streaming}`,
        (s) => {
          s.streaming = streaming;
        },
      ],
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Happening>([
      'duplicates',
      (s) => {
        s.duplicates = true;
      },
    ]),
  },
);

const history = fc
  .array(happening, { maxLength: 30 })
  .map((happenings) => ({ happenings, toString: () => happenings.map(([what]) => what).join('; ') }));

/**
 * The longest backoff, then a silent connection, or a silent server that ignores streaming, and a
 * list.
 */
const TO_RECOVER_MS = 5 * 60_000;

test('[W3] [W6] whatever happens, in the end the store is what the server has, and what the handlers were told', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ happenings }) => {
      const clock = new ManualClock();
      const server = new ModelServer();
      await using running = new RunningInformer(clock, new Map([['*', server]]));
      await running.start();
      for (const [, happen] of happenings) await happen(server, clock);
      server.behave();
      await clock.advance(TO_RECOVER_MS);

      const { lister } = running.informer;
      const truth = [...server.state.values()].map(
        ({ metadata, colour }) => `default/${metadata.name}@${metadata.resourceVersion} ${colour}`,
      );
      const cached = Array.from(
        lister.values(),
        (item) => `${item.key}@${item.resourceVersion} ${item.colours.join()}`,
      );
      expect(cached.sort()).toEqual(truth.sort());
      expect(new Map(running.replay.state)).toEqual(
        new Map(Array.from(lister.values(), (item) => [item.key, item])),
      );
      expect(running.replay.faults).toEqual([]);
      for (const value of ['red', 'green', 'blue']) {
        const filed = lister.byIndex('colour', value).map((item) => item.key);
        const expected = [...lister.values()]
          .filter((item) => item.colours.includes(value))
          .map((item) => item.key);
        expect(filed.sort()).toEqual(expected.sort());
      }
      expect(server.underWay).toBe(1);
      await running.stop();
      expect(server.underWay).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    }),
    { numRuns: 300 },
  );
}, 60_000);
