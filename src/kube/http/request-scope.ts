import type { Clock, Timer } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';

/**
 * The lifetime of one request. It ends early at the time limit or when somebody aborts it; then
 * {@link signal} aborts with a `NetworkError` as its reason. Each request has a signal of its own:
 * on Node 20, `AbortSignal.any` keeps something of every request on the long-lived signal
 * (nodejs/node#54614).
 */
export class RequestScope {
  readonly #server: string;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #controller = new AbortController();
  #timer: Timer | undefined;

  /** `server`: `host:port`, for messages. `callerSignal` aborts the request. */
  constructor(server: string, callerSignal: AbortSignal | undefined) {
    this.#server = server;
    this.#callerSignal = callerSignal;
    if (callerSignal?.aborted) this.abort();
    callerSignal?.addEventListener('abort', this.abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the request ended early; undefined if it did not. */
  get failure(): NetworkError | undefined {
    return this.signal.reason;
  }

  /** `work`, or a rejection as soon as the request ends early; the outcome of `work` is then ignored. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) reject(this.failure);
      this.signal.addEventListener('abort', () => reject(this.failure), { once: true });
      work.then(resolve, reject);
    });
  }

  startTimeLimit(clock: Clock, limitMs: number): void {
    this.#timer = clock.setTimer(limitMs, () =>
      this.#fail('TIMEOUT', `did not answer within ${limitMs / 1000} s`),
    );
  }

  stopTimeLimit(): void {
    this.#timer?.cancel();
  }

  readonly abort = (): void => this.#fail('ABORTED', 'was not waited for: the request was aborted');

  /** Releases the timer and the caller's signal. Must be called however the request ended. */
  dispose(): void {
    this.stopTimeLimit();
    this.#callerSignal?.removeEventListener('abort', this.abort);
  }

  #fail(code: string, what: string): void {
    this.#controller.abort(new NetworkError(`${this.#server} ${what}`, { code }));
  }
}
