import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import type { Lane } from '../../src/workqueue/lanes.ts';
import { FRESH_PER_BULK } from '../../src/workqueue/queue.ts';
import { ManualClock } from '../support/manual-clock.ts';

type Step =
  | { readonly op: 'add'; readonly key: string; readonly lane: Lane }
  | { readonly op: 'addAfter'; readonly key: string; readonly lane: Lane; readonly delayMs: number }
  | { readonly op: 'get' }
  | { readonly op: 'done'; readonly nth: number }
  | { readonly op: 'advance'; readonly ms: number };

/** More than a rounding error, less than the difference of two delays (ms). */
const JUST_AFTER_MS = 1e-6;

/**
 * A queue that is watched from outside. It records plainly which keys must still be handed out, and
 * checks whenever `get` returns a key:
 *
 * 1. Never twice at once: the key is not being processed.
 * 2. Repeats collapse: an add or ended delay was not served yet. This serves all of them.
 * 3. Lanes: a fresh key overtakes bulk keys. After FRESH_PER_BULK of these, one bulk key follows.
 * 4. Order: no key has waited longer in the same lane.
 *
 * And in the end:
 *
 * 5. Nothing is lost: every add and every delay was served.
 * 6. Nothing is left behind: no timer, no queued key.
 */
class WatchedQueue {
  readonly #clock = new ManualClock();
  readonly #queue = new DelayingQueue({ clock: this.#clock });
  readonly #processing = new Set<string>();
  /** Adds not served, with the time since which the key has waited in its lane. */
  readonly #owed = new Map<string, { readonly lane: Lane; readonly since: number }>();
  readonly #delays = new Map<string, { readonly readyAt: number; readonly lane: Lane }>();
  readonly #given: (string | undefined)[] = [];
  #gets = 0;
  #moment = 0;
  #freshInARow = 0;

  async apply(step: Step): Promise<void> {
    switch (step.op) {
      case 'add':
        this.#queue.add(step.key, step.lane);
        this.#noteAdd(step.key, step.lane);
        break;
      case 'addAfter': {
        const delayMs = this.#distinct(step.delayMs);
        this.#queue.addAfter(step.key, delayMs, step.lane);
        this.#noteDelay(step.key, delayMs, step.lane);
        break;
      }
      case 'get':
        this.#gets++;
        void this.#queue.get().then((key) => this.#given.push(key));
        break;
      case 'done':
        this.#done(step.nth);
        break;
      case 'advance':
        await this.#advance(step.ms);
        break;
    }
    await this.#checkStarts();
  }

  /** Lets delays end, and keys be taken and finished, until nothing more happens. */
  async comeToRest(): Promise<void> {
    await this.apply({ op: 'advance', ms: 1_000_000 });
    while (this.#owed.size > 0 || this.#processing.size > 0) {
      const before = this.#moment;
      if (this.#gets === 0) await this.apply({ op: 'get' });
      await this.apply({ op: 'done', nth: 0 });
      expect(this.#moment, `lost: ${[...this.#owed.keys()]}`).toBeGreaterThan(before);
    }
    expect([...this.#delays.keys()]).toEqual([]);
    expect(this.#clock.pendingTimers).toBe(0);
    expect(this.#queue.length).toBe(0);
  }

  async shutDown(): Promise<void> {
    this.#queue.shutDown();
    await turn();
    expect(this.#given).toEqual(Array(this.#gets).fill(undefined));
    expect(await this.#queue.get()).toBeUndefined();
    expect(this.#clock.pendingTimers).toBe(0);
  }

  #noteAdd(key: string, lane: Lane): void {
    const before = this.#owed.get(key);
    if (before?.lane === 'fresh' || before?.lane === lane) return;
    this.#owed.set(key, { lane, since: ++this.#moment });
  }

  #noteDelay(key: string, delayMs: number, lane: Lane): void {
    const before = this.#delays.get(key);
    const readyAt = this.#clock.now() + delayMs;
    this.#delays.set(key, {
      readyAt: Math.min(readyAt, before?.readyAt ?? readyAt),
      lane: before?.lane === 'fresh' ? 'fresh' : lane,
    });
  }

  /** Delayed keys are never due together, since their order would be unknown. */
  #distinct(delayMs: number): number {
    const taken = new Set([...this.#delays.values()].map(({ readyAt }) => readyAt));
    let distinct = delayMs;
    while (taken.has(this.#clock.now() + distinct)) distinct++;
    return distinct;
  }

  #done(nth: number): void {
    const key = [...this.#processing][nth % Math.max(1, this.#processing.size)];
    if (key === undefined) return;
    this.#queue.done(key);
    this.#processing.delete(key);
    const owed = this.#owed.get(key);
    this.#moment++;
    if (owed !== undefined) this.#owed.set(key, { lane: owed.lane, since: this.#moment });
  }

  async #advance(ms: number): Promise<void> {
    const target = this.#clock.now() + ms;
    const due = [...this.#delays].filter(([, { readyAt }]) => readyAt <= target);
    for (const [key, { readyAt, lane }] of due.sort(([, a], [, b]) => a.readyAt - b.readyAt)) {
      await this.#clock.advance(readyAt - this.#clock.now() + JUST_AFTER_MS);
      this.#delays.delete(key);
      this.#noteAdd(key, lane);
      await this.#checkStarts();
    }
    await this.#clock.advance(target - this.#clock.now());
  }

  async #checkStarts(): Promise<void> {
    await turn();
    for (const key of this.#given.splice(0)) {
      this.#gets--;
      this.#checkStart(key ?? 'undefined, though not shut down');
    }
    const waiting = [...this.#owed.keys()].filter((key) => !this.#processing.has(key));
    expect(this.#queue.length).toBe(waiting.length);
    expect(this.#gets > 0 && waiting.length > 0, 'a consumer waits beside a waiting key').toBe(false);
  }

  #checkStart(key: string): void {
    expect([...this.#processing], 'processed twice at once').not.toContain(key);
    const waiting = [...this.#owed].filter(([other]) => !this.#processing.has(other));
    const { lane, since } = this.#owed.get(key) ?? expect.fail(`${key} was started, but nobody had added it`);
    const inLane = (which: Lane) => waiting.filter(([, owed]) => owed.lane === which);

    const bothWait = inLane('fresh').length > 0 && inLane('bulk').length > 0;
    if (bothWait) expect(lane).toBe(this.#freshInARow === FRESH_PER_BULK ? 'bulk' : 'fresh');
    expect(since, `${key} overtook one of its lane`).toBe(
      Math.min(...inLane(lane).map(([, owed]) => owed.since)),
    );

    this.#freshInARow = bothWait && lane === 'fresh' ? this.#freshInARow + 1 : 0;
    this.#owed.delete(key);
    this.#processing.add(key);
    this.#moment++;
  }
}

const key = fc.constantFrom(...Array.from({ length: 14 }, (_, index) => `ns/key-${index}`));
const lane = fc.constantFrom<Lane>('fresh', 'bulk');
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ op: fc.constant('add' as const), key, lane }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('get' as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('done' as const), nth: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant('addAfter' as const),
      key,
      lane,
      delayMs: fc.integer({ min: 1, max: 500 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 400 }) }),
  },
);

it('[Q1] [Q2] [Q3] keeps its invariants under random histories', { timeout: 60_000 }, async () => {
  const history = fc.array(steps, { minLength: 1, maxLength: 120, size: 'max' });
  await fc.assert(
    fc.asyncProperty(history, async (history) => {
      const watched = new WatchedQueue();
      for (const step of history) await watched.apply(step);
      await watched.comeToRest();
      await watched.shutDown();
    }),
    { numRuns: 300 },
  );
});
