import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { ApiError, isForbidden, NetworkError } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { HistoryRestartedError } from './history.ts';

const BACKOFF: BackoffOptions = { baseMs: 800, capMs: 30_000, jitter: 0.5 };

/**
 * Age (ms) at which a watch that has brought something counts as working: it ends an outage and
 * resets the backoff.
 */
const SETTLED_MS = 10_000;

/**
 * When a reflector has heard from the server, how often it has failed, and the log of its outages.
 * An outage lasts from the first failure to the next settled watch. Each reason is logged once
 * (`warn`, repeats `debug`), and so is the end (`info`).
 */
export class ConnectionHealth {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Logger;
  #failures = 0;
  #isRefused = false;
  #failingSince = 0;
  readonly #reasonsLogged = new Set<string>();
  /** When the present list or watch was begun; undefined while the next attempt waits. */
  #begunAt: number | undefined;
  #heardAt: number | undefined;
  /** When the present watch was opened, or took over from the list. */
  #watchingSince = 0;
  #settling: Timer | undefined;

  constructor(deps: { readonly clock: Clock; readonly random: () => number; readonly log: Logger }) {
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
  }

  /** Failures in a row, without a settled watch in between. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether the last failure was a missing right. A success does not change it. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** When the server last sent something, on the clock; undefined: not yet. */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  /**
   * Time (ms) for which a list or watch has been open and has brought nothing; 0 before it is tried
   * again. Time limits end each within 2 min, so more is a fault in this program.
   */
  silentMs(): number {
    if (this.#begunAt === undefined) return 0;
    return this.#clock.now() - Math.max(this.#begunAt, this.#heardAt ?? this.#begunAt);
  }

  /** A list or watch begins. */
  begun(): void {
    this.#begunAt = this.#clock.now();
  }

  /** The server sent something. */
  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  watchOpened(): void {
    this.#watchingSince = this.#clock.now();
  }

  /** The present watch brought something. Unless it closes first, it settles when old enough. */
  watchHeard(): void {
    this.heard();
    const now = this.#clock.now();
    this.#settling ??= this.#clock.setTimer(this.#watchingSince + SETTLED_MS - now, () => this.#settled(now));
  }

  /** Returns whether the watch had lived long enough to be opened again at once. */
  watchClosed(): boolean {
    this.#settling?.cancel();
    this.#settling = undefined;
    return this.#clock.now() - this.#watchingSince >= SETTLED_MS;
  }

  /**
   * Counts a failure and logs it with `message`. Returns how long to wait (ms) before the next
   * attempt.
   */
  failed(error: unknown, message: string): number {
    if (this.#failures === 0) this.#failingSince = this.#clock.now();
    this.#failures += 1;
    this.#isRefused = isForbidden(error);
    this.#begunAt = undefined;
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(retryAfterMs, backoffDelay(this.#failures, BACKOFF, this.#random));
    const reason = reasonOf(error);
    const level = this.#reasonsLogged.has(reason) ? 'debug' : 'warn';
    const retryInMs = Math.round(delayMs);
    this.#log[level]({ reason, ...detailOf(error), failures: this.#failures, retryInMs }, message);
    this.#reasonsLogged.add(reason);
    return delayMs;
  }

  /**
   * `heardAt`: when the watch that settled first brought something, which is when the outage ended.
   */
  #settled(heardAt: number): void {
    if (this.#failures > 0) {
      const durationMs = Math.round(heardAt - this.#failingSince);
      this.#log.info({ durationMs, failures: this.#failures }, 'resolved');
    }
    this.#failures = 0;
    this.#reasonsLogged.clear();
  }
}

/** Tells outages apart: the same for every attempt that fails for the same cause. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.reason}`.trim();
  if (error instanceof NetworkError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The stack too where the error is a fault in this program. */
function detailOf(error: unknown): { readonly error: string; readonly stack?: string | undefined } {
  if (!(error instanceof Error)) return { error: String(error) };
  const isExpected = [ApiError, NetworkError, HistoryRestartedError].some((kind) => error instanceof kind);
  return isExpected ? { error: error.message } : { error: error.message, stack: error.stack };
}
