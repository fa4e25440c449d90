import type { Clock, Timer } from '../clock/clock.ts';
import { NetworkError } from './errors.ts';

export interface RequestScopeOptions {
  readonly clock: Clock;
  /** Any of them gives the request up. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** `host:port`, for messages. */
  readonly server: string;
}

/**
 * The life of one request: a signal that fires at the time limit or when somebody gives the request up, with the
 * `NetworkError` to throw as its reason. Not `AbortSignal.any`: a long-lived signal would keep something of every
 * request that it ever guarded (nodejs/node#54614).
 */
export class RequestScope {
  readonly #controller = new AbortController();
  readonly #options: RequestScopeOptions;
  readonly #giveUp = () => this.#abort('ABORTED', 'was not waited for: the request was given up');
  #timer: Timer | undefined;

  constructor(options: RequestScopeOptions) {
    this.#options = options;
    for (const signal of options.signals) {
      if (signal?.aborted) this.#giveUp();
      signal?.addEventListener('abort', this.#giveUp, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the scope was aborted; undefined while it was not. */
  get failure(): NetworkError | undefined {
    return this.signal.aborted ? (this.signal.reason as NetworkError) : undefined;
  }

  /** `work`, or a rejection with {@link failure} as soon as there is one; then nobody hears how `work` ended. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(this.signal.reason);
      if (this.signal.aborted) giveUp();
      this.signal.addEventListener('abort', giveUp, { once: true });
      work.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', giveUp));
    });
  }

  startTimer(timeLimitMs: number): void {
    this.#timer = this.#options.clock.setTimer(timeLimitMs, () => {
      this.#abort('TIMEOUT', `did not answer within ${timeLimitMs / 1000} s`);
    });
  }

  /** From here on only the signals end the request. */
  stopTimer(): void {
    this.#timer?.cancel();
  }

  /** Lets go of timer and signals; to be called however the request ended. */
  dispose(): void {
    this.stopTimer();
    for (const signal of this.#options.signals) signal?.removeEventListener('abort', this.#giveUp);
  }

  #abort(code: string, meaning: string): void {
    this.#controller.abort(new NetworkError(`${this.#options.server} ${meaning}`, { code }));
  }
}
