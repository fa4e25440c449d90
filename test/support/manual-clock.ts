import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/clock/clock.ts';

interface PendingTimer {
  readonly due: number;
  readonly callback: () => void;
}

/** More timers than this at one instant are taken for a loop that never waits. */
const HOT_LOOP = 10_000;

/**
 * A clock that moves only when told to. Between timers it lets every promise chain settle, however
 * long; it does not wait for real I/O or real timers, which have no place beside it.
 */
export class ManualClock implements Clock {
  readonly #startOfWallTime: number;
  /** In the order in which they were set, which is the order of those that are due together. */
  readonly #timers = new Set<PendingTimer>();
  #now = 0;
  #advancing = false;

  constructor(wallTime: Date = new Date('2026-01-01T00:00:00.000Z')) {
    this.#startOfWallTime = wallTime.getTime();
  }

  now(): number {
    return this.#now;
  }

  wallTime(): Date {
    return new Date(this.#startOfWallTime + this.#now);
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer: PendingTimer = { due: this.#now + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  /** Timers set and neither fired nor cancelled: 0 once everything on this clock has stopped. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /**
   * Moves time on by `ms` and fires what comes due, in time order, the timers that those set
   * included. `advance(0)` lets promises settle and fires what is due now. Rejects when a callback
   * throws, when another `advance` is under way, and on a hot loop (time cannot move on because
   * timers keep coming).
   */
  async advance(ms: number): Promise<void> {
    if (this.#advancing) throw new Error('ManualClock.advance: the previous advance was not awaited');
    this.#advancing = true;
    try {
      await this.#advanceTo(this.#now + ms);
    } finally {
      this.#advancing = false;
    }
  }

  async #advanceTo(target: number): Promise<void> {
    let firedAtThisInstant = 0;
    await turn();
    for (let next = this.#next(); next !== undefined && next.due <= target; next = this.#next()) {
      firedAtThisInstant = next.due > this.#now ? 1 : firedAtThisInstant + 1;
      if (firedAtThisInstant > HOT_LOOP) {
        throw new Error(`ManualClock.advance: hot loop, ${HOT_LOOP} timers fired at ${this.#now} ms`);
      }
      this.#now = Math.max(this.#now, next.due);
      this.#timers.delete(next);
      next.callback();
      await turn();
    }
    this.#now = target;
  }

  #next(): PendingTimer | undefined {
    let earliest: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (earliest === undefined || timer.due < earliest.due) earliest = timer;
    }
    return earliest;
  }
}
