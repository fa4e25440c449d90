import type { Clock, Timer } from '../../src/clock/clock.ts';
import { Elector } from '../../src/leaderelection/elector.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import type { Journey, MemoryLeases } from './memory-leases.ts';

/** client-go's defaults. */
export const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 } as const;

/** One machine's clocks: as far apart from the others' as a test wants. */
export class SkewedClock implements Clock {
  readonly #base: Clock;
  readonly #origin: number;
  /** How far (ms) the wall clock is ahead. */
  wallSkewMs: number;

  constructor(base: Clock, origin = 0, wallSkewMs = 0) {
    this.#base = base;
    this.#origin = origin;
    this.wallSkewMs = wallSkewMs;
  }

  now(): number {
    return this.#base.now() + this.#origin;
  }

  wallTime(): Date {
    return new Date(this.#base.wallTime().getTime() + this.wallSkewMs);
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.#base.setTimer(delayMs, callback);
  }
}

export interface CandidateOptions {
  readonly clock?: SkewedClock;
  readonly times?: Partial<Record<keyof typeof TIMES, number>>;
  readonly random?: () => number;
}

/** A running elector. */
export class Candidate {
  readonly log = new RecordedLog();
  readonly clock: SkewedClock;
  readonly elector: Elector;
  /** What happens to its next requests. */
  journey: (method: 'get' | 'create' | 'update') => Journey = () => ({});
  /** Its requests, in order. */
  readonly requests: string[] = [];
  /** How often it was told that it became leader. */
  gained = 0;
  isStopped = false;
  readonly #stop = new AbortController();

  constructor(identity: string, leases: MemoryLeases, base: ManualClock, options: CandidateOptions = {}) {
    this.clock = options.clock ?? new SkewedClock(base);
    this.elector = new Elector({
      leases: leases.api((method) => {
        this.requests.push(method);
        return this.journey(method);
      }),
      identity,
      ...TIMES,
      ...options.times,
      clock: this.clock,
      random: options.random ?? (() => 0),
      log: this.log,
    });
    const run = this.elector.run(this.#stop.signal, () => {
      this.gained += 1;
    });
    void run.then(() => {
      this.isStopped = true;
    });
  }

  get isLeader(): boolean {
    return this.elector.leadership.mayWrite();
  }

  stop(): void {
    this.#stop.abort();
  }

  messages(): readonly string[] {
    return this.log.told.map(({ message }) => message);
  }
}
