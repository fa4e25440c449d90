import { type BackoffOptions, backoffDelay } from '../clock/backoff.ts';
import type { Clock, Timer } from '../clock/clock.ts';
import { ApiError, NetworkError } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';

const BACKOFF: BackoffOptions = { baseMs: 800, capMs: 30_000, jitter: 0.5 };

/** A watch that has lived this long and brought something works: it ends an outage and resets the backoff. */
const SETTLED_MS = 10_000;

/**
 * How a reflector gets on with the server: how long to wait after a failure, since when nothing was heard,
 * and the log of outages. An outage lasts from the first failure to the next settled watch; it is told
 * once for each reason (`warn`, repeats `debug`), and once when it is over (`info`).
 */
export class ConnectionHealth {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Logger;
  #failures = 0;
  #failingSince = 0;
  readonly #reasonsTold = new Set<string>();
  #lastContact: number;
  /** When the present watch took over from the list, or was opened. */
  #watchingSince = 0;
  #settling: Timer | undefined;

  constructor(deps: { readonly clock: Clock; readonly random: () => number; readonly log: Logger }) {
    this.#clock = deps.clock;
    this.#random = deps.random;
    this.#log = deps.log;
    this.#lastContact = deps.clock.now();
  }

  /** Since the server last sent anything of use (from construction on while it never has), milliseconds. */
  staleMs(): number {
    return this.#clock.now() - this.#lastContact;
  }

  /** In a row, without a watch in between that lasted. */
  get failures(): number {
    return this.#failures;
  }

  /** The server sent something of use, or ended a watch in good order. */
  heard(): void {
    this.#lastContact = this.#clock.now();
  }

  watchOpened(): void {
    this.#watchingSince = this.#clock.now();
  }

  /** The present watch brought something: unless it is closed before, it will have settled in a while. */
  watchHeard(): void {
    this.heard();
    const contact = this.#lastContact;
    const remainingMs = this.#watchingSince + SETTLED_MS - contact;
    this.#settling ??= this.#clock.setTimer(remainingMs, () => this.#settled(contact));
  }

  /** Says whether the watch had lived long enough to be opened again at once. */
  watchClosed(): boolean {
    this.#settling?.cancel();
    this.#settling = undefined;
    return this.#clock.now() - this.#watchingSince >= SETTLED_MS;
  }

  /** Counts and logs a failure. Returns how long to wait before the next try, milliseconds. */
  failed(error: unknown, during: string): number {
    if (this.#failures === 0) this.#failingSince = this.#clock.now();
    this.#failures += 1;
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(asked, backoffDelay(this.#failures, BACKOFF, this.#random));
    const reason = reasonOf(error);
    const fields = { during, reason, ...detailOf(error), failures: this.#failures, retryMs: delayMs };
    if (this.#reasonsTold.has(reason)) this.#log.debug(fields, 'still cannot watch');
    else this.#log.warn(fields, 'cannot watch, will keep trying');
    this.#reasonsTold.add(reason);
    return delayMs;
  }

  #settled(contact: number): void {
    if (this.#failures > 0) {
      this.#log.info({ outageMs: contact - this.#failingSince, failures: this.#failures }, 'watching again');
    }
    this.#failures = 0;
    this.#reasonsTold.clear();
  }
}

/** Tells outages apart: the same for every try that fails for the same cause. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.reason}`.trim();
  if (error instanceof NetworkError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The whole error, stack included, only where it is a fault of ours and not the world's. */
function detailOf(error: unknown): { readonly error: string } | { readonly err: unknown } {
  const expected = error instanceof ApiError || error instanceof NetworkError;
  return expected ? { error: error.message } : { err: error };
}
