import { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';

export interface RequestScopeOptions {
  readonly clock: Clock;
  /** `host:port`, for messages. */
  readonly server: string;
  /** The caller's; aborts the request. */
  readonly signal: AbortSignal | undefined;
}

/**
 * The lifetime of one request: it ends early at the time limit or when it is aborted. undici
 * takes it as the request's signal. An `AbortSignal` per request would double the processor time of
 * a call, and `AbortSignal.any` leaks on Node 20 (nodejs/node#54614).
 */
export class RequestScope extends EventEmitter<{ abort: [] }> {
  readonly #options: RequestScopeOptions;
  #reason: NetworkError | undefined;
  #timer: Timer | undefined;

  constructor(options: RequestScopeOptions) {
    super();
    this.#options = options;
    if (options.signal?.aborted) this.abort();
    options.signal?.addEventListener('abort', this.abort, { once: true });
  }

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** Why the request ended early; undefined if it did not. */
  get reason(): NetworkError | undefined {
    return this.#reason;
  }

  /** `work`, or a rejection as soon as the request ends early; it then ignores what `work` does. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#reason !== undefined) reject(this.#reason);
      this.once('abort', () => reject(this.#reason));
      work.then(resolve, reject);
    });
  }

  /** Resolves after `delayMs`; rejects as soon as the request ends early. */
  wait(delayMs: number): Promise<void> {
    const { clock } = this.#options;
    return this.within(
      new Promise((resolve) => {
        this.#timer = clock.setTimer(delayMs, resolve);
      }),
    );
  }

  startTimeLimit(limitMs: number): void {
    this.#timer = this.#options.clock.setTimer(limitMs, () =>
      this.#end('TIMEOUT', `did not answer within ${limitMs / 1000} s`),
    );
  }

  stopTimeLimit(): void {
    this.#timer?.cancel();
  }

  readonly abort = (): void => this.#end('ABORTED', 'did not answer before the request was aborted');

  /**
   * Releases the timer, the caller's signal and its own listeners. Must be called however the
   * request ended. The listeners hold the answer, and V8 may hold the scope for longer: a `Map` or
   * `Set` of what is under way leaves old tables behind, of which each holds the next. A first
   * start over 10,000 sources would leave three times as much garbage in the old generation.
   */
  dispose(): void {
    this.#timer?.cancel();
    this.#options.signal?.removeEventListener('abort', this.abort);
    this.removeAllListeners();
  }

  #end(code: string, what: string): void {
    if (this.aborted) return;
    this.#reason = new NetworkError(`${this.#options.server} ${what}`, { code });
    this.emit('abort');
  }
}
