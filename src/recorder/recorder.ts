import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import { aborted, type Clock, sleep } from '../clock/clock.ts';
import { Wakeup } from '../clock/wakeup.ts';
import { ApiError, NetworkError } from '../kube/errors.ts';
import { Allowance } from './allowance.ts';
import { EventWriter, type EventWriterDeps } from './event-writer.ts';
import type { Occurrence, Told } from './occurrence.ts';

export interface EventRecorderDeps extends EventWriterDeps {
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  /**
   * Whether something more urgent is being written: then Events keep to their average rate. Asked
   * only while one waits.
   */
  readonly isBusy: () => boolean;
}

/** Events that may wait; what comes beyond is dropped. */
const CAPACITY = 1000;
/**
 * Time (ms) that an occurrence waits for others about the same object and reason. So a burst of
 * changes makes few requests, and makes them when it is over.
 */
const GATHER_MS = 1_000;
const MOST_ATTEMPTS = 5;
const BACKOFF: BackoffOptions = { baseMs: 500, capMs: 10_000, jitter: 0.5 };
/** Longest time (ms) that a stop waits for what may still be written. */
const FLUSH_MS = 1_000;

interface Waiting extends Told {
  /** By the clock. */
  readonly dueAt: number;
}

/**
 * Turns occurrences into Events, as client-go's package of this name does. There is one Event for
 * each object and reason; occurrences that wait for the same one become one request. Events are
 * best effort: nobody waits for them, and what cannot be written is dropped.
 */
export class EventRecorder {
  readonly #deps: EventRecorderDeps;
  readonly #writer: EventWriter;
  readonly #allowance = new Allowance();
  /** What waits, by object and reason, in the order in which it came. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #wakeup = new Wakeup();
  #dropped = 0;
  #isStopped = false;

  constructor(deps: EventRecorderDeps) {
    this.#deps = deps;
    this.#writer = new EventWriter(deps);
  }

  /** Requests for Events, of one or more occurrences, that were given up. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Another process may have written until now; from now on only this one writes. */
  takeOver(): void {
    this.#writer.forget();
  }

  /** Returns at once. */
  record(occurrence: Occurrence): void {
    const id = idOf(occurrence);
    const { clock } = this.#deps;
    const lastAt = clock.wallTime();
    const { count = 0, firstAt = lastAt, dueAt = clock.now() + GATHER_MS } = this.#waiting.get(id) ?? {};
    if (this.#isStopped || (count === 0 && this.#waiting.size >= CAPACITY)) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.set(id, { latest: occurrence, count: count + 1, firstAt, lastAt, dueAt });
    if (this.#waiting.size === 1) this.#wakeup.wake();
  }

  /**
   * Writes Events, one after the other, until `signal` aborts. Then writes what is allowed at once,
   * for at most 1 s, and resolves. Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const end = new AbortController();
    void aborted(signal).then(async () => {
      this.#wakeup.wake();
      await sleep(clock, FLUSH_MS, end.signal);
      end.abort();
    });
    while (!end.signal.aborted) {
      const next = this.#next(signal.aborted);
      if (typeof next === 'object') await this.#write(next, signal, end.signal);
      else if (signal.aborted) break;
      else await this.#wakeup.wait(clock, next);
    }
    end.abort();
    this.#isStopped = true;
    this.#dropped += this.#waiting.size;
  }

  /** What may be written now, or how long (ms) to wait for that; Infinity: nothing waits. */
  #next(isStopping: boolean): Waiting | number {
    if (this.#waiting.size === 0) return Number.POSITIVE_INFINITY;
    const now = this.#deps.clock.now();
    const waitMs = this.#allowance.waitMs(now, !isStopping && this.#deps.isBusy());
    // Nothing new is due before that.
    let soonestMs = GATHER_MS;
    for (const told of this.#waiting.values()) {
      const laterMs = Math.max(waitMs, isStopping ? 0 : told.dueAt - now);
      // What came after it is due no earlier.
      if (laterMs > 0) return Math.min(soonestMs, laterMs);
      const ms = this.#allowance.waitOfObjectMs(told.latest.regarding.uid, now);
      if (ms === 0) return told;
      soonestMs = Math.min(soonestMs, ms);
    }
    return soonestMs;
  }

  async #write(told: Told, stopping: AbortSignal, end: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    this.#waiting.delete(idOf(told.latest));
    for (let attempt = 1; ; attempt++) {
      this.#allowance.take(told.latest.regarding.uid, clock.now());
      try {
        await this.#writer.write(told, end);
        return;
      } catch (err) {
        if (attempt === MOST_ATTEMPTS || stopping.aborted || !isTransient(err)) {
          this.#dropped += 1;
          log.debug({ event: idOf(told.latest), attempt, err }, 'Event dropped');
          return;
        }
        await sleep(clock, backoffDelay(attempt, BACKOFF, random), stopping);
      }
    }
  }
}

function idOf({ regarding, reason }: Occurrence): string {
  return `${regarding.uid} ${reason}`;
}

function isTransient(error: unknown): boolean {
  // It stops, or may not write any more.
  if (error instanceof NetworkError) return error.code !== 'ABORTED';
  return error instanceof ApiError && (error.status === 409 || error.status === 429 || error.status >= 500);
}
