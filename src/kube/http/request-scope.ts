import { NetworkError } from '../errors.ts';
import type { Deadlines } from './deadlines.ts';

export interface RequestScopeOptions {
  readonly deadlines: Deadlines;
  /** Gives the request up. */
  readonly signal: AbortSignal | undefined;
  /** `host:port`, for messages. */
  readonly server: string;
}

/**
 * The life of one request, which the time limit ends, or somebody who gives the request up. Not an `AbortSignal`, which
 * would be a good part of the cost of a request, nor `AbortSignal.any`: a long-lived signal would keep something of every
 * request that it ever guarded (nodejs/node#54614).
 */
export class RequestScope {
  readonly #options: RequestScopeOptions;
  readonly #listeners = new Set<(failure: NetworkError) => void>();
  #failure: NetworkError | undefined;
  #stopLimit: (() => void) | undefined;

  constructor(options: RequestScopeOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal?.aborted) this.giveUp();
    signal?.addEventListener('abort', this.giveUp, { once: true });
  }

  /** Why the request ended early; undefined while it did not. */
  get failure(): NetworkError | undefined {
    return this.#failure;
  }

  /** Calls `listener` when the request ends early, at once when it has; the result takes the listener back. */
  onFailure(listener: (failure: NetworkError) => void): () => void {
    if (this.#failure !== undefined) listener(this.#failure);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A signal that aborts with {@link failure}, for what knows nothing else. */
  signal(): AbortSignal {
    const controller = new AbortController();
    this.onFailure((failure) => controller.abort(failure));
    return controller.signal;
  }

  /** `work`, or a rejection with {@link failure} as soon as there is one; then nobody hears how `work` ended. */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const forget = this.onFailure(reject);
      work.then(resolve, reject).finally(forget);
    });
  }

  startLimit(): void {
    const { deadlines } = this.#options;
    this.#stopLimit = deadlines.begin(() =>
      this.#fail('TIMEOUT', `did not answer within ${deadlines.limitMs / 1000} s`),
    );
  }

  /** From here on the request is ended only by who gives it up. */
  stopLimit(): void {
    this.#stopLimit?.();
  }

  readonly giveUp = (): void => this.#fail('ABORTED', 'was not waited for: the request was given up');

  /** Lets go of time limit and signal; to be called however the request ended. */
  dispose(): void {
    this.stopLimit();
    this.#options.signal?.removeEventListener('abort', this.giveUp);
  }

  #fail(code: string, meaning: string): void {
    if (this.#failure !== undefined) return;
    const failure = new NetworkError(`${this.#options.server} ${meaning}`, { code });
    this.#failure = failure;
    for (const listener of this.#listeners) listener(failure);
  }
}
