import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { Candidate, SkewedClock, TIMES } from './candidate.ts';
import { type Journey, MemoryLeases } from './memory-leases.ts';

const STEP_MS = 250;

/** Times on the way of up to 8 s: longer than an attempt may take. */
const journey: fc.Arbitrary<Journey> = fc.record(
  {
    outMs: fc.oneof(fc.nat(50), fc.nat(8_000)),
    backMs: fc.oneof(fc.nat(50), fc.nat(8_000)),
    lost: fc.constantFrom('request' as const, 'answer' as const),
  },
  { requiredKeys: ['outMs', 'backMs'] },
);
/** Weighted, so that most requests arrive. */
const journeys = fc.infiniteStream(
  fc.oneof({ weight: 4, arbitrary: fc.constant<Journey>({}) }, { weight: 1, arbitrary: journey }),
);

const candidateSettings = fc.record({
  /** Of its monotonic clock. */
  origin: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  wallSkewMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
  startsAt: fc.nat(5_000),
  journeys,
  random: fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
});
type Settings = typeof candidateSettings extends fc.Arbitrary<infer T> ? T : never;

const EVENTS = {
  'set the clock': (one: Candidate, _: Settings, skewMs: number) => {
    one.clock.wallSkewMs = skewMs;
  },
  'cut off': (one: Candidate) => {
    one.journey = () => ({ lost: 'request' });
  },
  reconnect: (one: Candidate, settings: Settings) => {
    one.journey = () => settings.journeys.next().value ?? {};
  },
  'a watch event': (one: Candidate) => one.elector.hint('somebody else'),
  restart: (one: Candidate) => one.stop(),
} as const;
const event = fc.record({
  at: fc.nat(120_000),
  who: fc.nat(3),
  what: fc.constantFrom(...(Object.keys(EVENTS) as (keyof typeof EVENTS)[])),
  skewMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
});
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

class Scene {
  readonly clock = new ManualClock();
  readonly #leases = new MemoryLeases(this.clock);
  readonly #all: Candidate[] = [];
  readonly #present = new Map<number, Candidate>();
  readonly #settings: readonly Settings[];

  constructor(settings: readonly Settings[]) {
    this.#settings = settings;
  }

  get leaders(): readonly Candidate[] {
    return this.#all.filter(({ isLeader }) => isLeader);
  }

  start(who: number): void {
    const settings = this.#settings[who];
    if (settings === undefined) return;
    const { origin, wallSkewMs, random, journeys } = settings;
    const one = new Candidate(`candidate-${this.#all.length}`, this.#leases, this.clock, {
      clock: new SkewedClock(this.clock, origin, wallSkewMs),
      random: () => random.next().value ?? 0,
    });
    one.journey = () => journeys.next().value ?? {};
    this.#all.push(one);
    this.#present.set(who, one);
  }

  /** From `at` to {@link STEP_MS} later. */
  async step(at: number, events: readonly Event[]): Promise<void> {
    const isNow = (time: number) => time >= at && time < at + STEP_MS;
    for (const [who, { startsAt }] of this.#settings.entries()) if (isNow(startsAt)) this.start(who);
    for (const each of events) if (isNow(each.at)) this.happen(each);
    await this.clock.advance(STEP_MS);
  }

  happen({ who, what, skewMs }: Event): void {
    const [one, settings] = [this.#present.get(who), this.#settings[who]];
    if (one === undefined || settings === undefined) return;
    EVENTS[what](one, settings, skewMs);
    if (what === 'restart') this.start(who);
  }

  reconnectAll(): void {
    for (const one of this.#all) one.journey = () => ({});
  }

  stopAll(): void {
    for (const one of this.#all) one.stop();
  }

  get areAllStopped(): boolean {
    return this.#all.every(({ isStopped }) => isStopped);
  }
}

test('[L1] [L2] [L3] whatever network and clocks do, never do two candidates lead, and in the end one does', async () => {
  const candidates = fc.array(candidateSettings, { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(candidates, fc.array(event, { maxLength: 20 }), async (settings, events) => {
      const scene = new Scene(settings);
      for (let at = 0; at < 120_000; at += STEP_MS) {
        await scene.step(at, events);
        expect(scene.leaders.length).toBeLessThanOrEqual(1);
      }
      scene.reconnectAll();
      await scene.clock.advance(TIMES.leaseDurationMs + 2 * TIMES.renewDeadlineMs);
      expect(scene.leaders).toHaveLength(1);
      scene.stopAll();
      await scene.clock.advance(10);
      expect(scene.areAllStopped).toBe(true);
    }),
    { numRuns: 30 },
  );
});
