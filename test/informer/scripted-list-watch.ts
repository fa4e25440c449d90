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

/**
 * A server that plays a script: the nth list gets the nth of `lists`, the nth watch the nth of `watches`,
 * and the last of each is repeated for ever.
 */
export class ScriptedListWatch<T extends KubeObject> implements ListWatch<T> {
  readonly requests: Request[] = [];
  /** Calls that have not returned: 0 once everything was closed. */
  underWay = 0;
  readonly #clock: Clock;
  readonly #lists: readonly ListReply<T>[];
  readonly #watches: readonly (readonly WatchStep<T>[])[];

  constructor(
    clock: Clock,
    script: {
      readonly lists?: readonly ListReply<T>[];
      readonly watches?: readonly (readonly WatchStep<T>[])[];
    },
  ) {
    this.#clock = clock;
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
    const reply = nth(this.#lists, this.lists.length, 'list');
    this.requests.push({ at: this.#clock.now(), call: 'list', options });
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
