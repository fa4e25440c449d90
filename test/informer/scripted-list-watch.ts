import { type Clock, sleep } from '../../src/clock/clock.ts';
import type {
  ListOptions,
  ListPage,
  ListWatch,
  WatchEvent,
  WatchOptions,
} from '../../src/kube/api/list-watch.ts';
import type { KubeObject } from '../../src/kube/api/types.ts';
import { NetworkError } from '../../src/kube/errors.ts';

/** What a watch does next; at the end of its steps the server closes it in good order. */
export type WatchStep<T extends KubeObject> =
  | { readonly step: 'send'; readonly batch: readonly WatchEvent<T>[] }
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'fail'; readonly error: Error }
  /** Neither a byte nor an end, until the client closes. */
  | { readonly step: 'hang' };

export const send = <T extends KubeObject>(...batch: WatchEvent<T>[]): WatchStep<T> => ({
  step: 'send',
  batch,
});
export const wait = (ms: number): WatchStep<never> => ({ step: 'wait', ms });
export const fail = (error: Error): WatchStep<never> => ({ step: 'fail', error });
export const hang: WatchStep<never> = { step: 'hang' };

/** `'hang'`: no answer until the client gives up. */
export type ListReply<T extends KubeObject> = ListPage<T> | Error | 'hang';

export type Request =
  | { readonly at: number; readonly call: 'list'; readonly options: ListOptions }
  | { readonly at: number; readonly call: 'watch'; readonly options: WatchOptions };

/** The reply to a check by default: a history that has gone on. */
const LATER = '999999';

/**
 * A server that plays a script: the nth list gets the nth of `lists`, the nth watch the nth of
 * `watches`, the nth check the nth of `checks`. The last of each is repeated indefinitely. A check
 * is the list of one object by which a reflector learns how far the server's history is.
 */
export class ScriptedListWatch<T extends KubeObject> implements ListWatch<T> {
  /** Without the checks. */
  readonly requests: Request[] = [];
  /** When there was a check. */
  readonly checks: number[] = [];
  /** Calls that have not returned: 0 once everything was closed. */
  underWay = 0;
  readonly #clock: Clock;
  readonly #lists: readonly ListReply<T>[];
  readonly #watches: readonly (readonly WatchStep<T>[])[];
  readonly #checks: readonly ListReply<T>[];

  constructor(
    clock: Clock,
    script: {
      readonly lists?: readonly ListReply<T>[];
      readonly watches?: readonly (readonly WatchStep<T>[])[];
      readonly checks?: readonly ListReply<T>[];
    },
  ) {
    this.#clock = clock;
    this.#checks = script.checks ?? [{ items: [], resourceVersion: LATER, bytes: 0 }];
    this.#lists = script.lists ?? [];
    this.#watches = script.watches ?? [];
  }

  get watches(): readonly WatchOptions[] {
    return this.requests.flatMap((request) => (request.call === 'watch' ? [request.options] : []));
  }

  get lists(): readonly ListOptions[] {
    return this.requests.flatMap((request) => (request.call === 'list' ? [request.options] : []));
  }

  async list(options: ListOptions, signal: AbortSignal): Promise<ListPage<T>> {
    const reply = this.#replyTo(options);
    this.underWay += 1;
    try {
      if (reply === 'hang') await aborted(signal);
      if (signal.aborted) throw closedByClient();
      if (reply instanceof Error) throw reply;
      return reply as ListPage<T>;
    } finally {
      this.underWay -= 1;
    }
  }

  #replyTo(options: ListOptions): ListReply<T> {
    const at = this.#clock.now();
    if (options.limit === 1 && options.continue === undefined) {
      this.checks.push(at);
      return nth(this.#checks, this.checks.length - 1, 'check');
    }
    this.requests.push({ at, call: 'list', options });
    return nth(this.#lists, this.lists.length - 1, 'list');
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly WatchEvent<T>[]> {
    const steps = nth(this.#watches, this.watches.length, 'watch');
    this.requests.push({ at: this.#clock.now(), call: 'watch', options });
    this.underWay += 1;
    try {
      for (const step of steps) {
        if (step.step === 'send') yield step.batch;
        else if (step.step === 'wait') await sleep(this.#clock, step.ms, signal);
        else if (step.step === 'hang') await aborted(signal);
        else throw step.error;
        if (signal.aborted) throw closedByClient();
      }
    } finally {
      this.underWay -= 1;
    }
  }
}

function nth<R>(script: readonly R[], position: number, call: string): R {
  const reply = script[Math.min(position, script.length - 1)];
  if (reply === undefined) throw new Error(`the script has no ${call}`);
  return reply;
}

function closedByClient(): Error {
  return new NetworkError('closed by the client', { code: 'ABORTED' });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
