import type { Clock } from '../../src/clock/clock.ts';
import type { LeaseApi } from '../../src/kube/api/leases.ts';
import type { Lease, LeaseSpec } from '../../src/kube/api/types.ts';
import { ApiError, NetworkError } from '../../src/kube/errors.ts';

/** What happens to one request on its way; the server carries out what reaches it. */
export interface Journey {
  /** Time (ms) until the request reaches the server. */
  readonly outMs?: number;
  /** Time (ms) until the answer reaches the client. */
  readonly backMs?: number;
  readonly lost?: 'request' | 'answer';
}

/** One Lease on a server, with an API server's answers: 404, 409, resourceVersions. */
export class MemoryLeases {
  lease: Lease | undefined;
  /** Every holder that the Lease had, one after the other. */
  readonly holders: string[] = [];
  readonly #clock: Clock;
  #version = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The API as one client sees it. `journey` is asked before each request. */
  api(journey: (method: 'get' | 'create' | 'update') => Journey = () => ({})): LeaseApi {
    return {
      key: 'home/election',
      get: (signal) => this.#travel(journey('get'), signal, () => this.#existing()),
      create: (spec, signal) =>
        this.#travel(journey('create'), signal, () => {
          if (this.lease !== undefined) throw refusal(409, 'AlreadyExists');
          return this.#store(`uid-${this.#version + 1}`, spec);
        }),
      update: ({ metadata }, spec, signal) =>
        this.#travel(journey('update'), signal, () => {
          const { uid, resourceVersion } = this.lease?.metadata ?? {};
          if (uid !== metadata.uid || resourceVersion !== metadata.resourceVersion) {
            throw refusal(409, 'Conflict');
          }
          return this.#store(metadata.uid, spec);
        }),
    };
  }

  /** What a person does with kubectl. */
  edit(spec: LeaseSpec): void {
    this.#store(this.lease?.metadata.uid ?? 'uid-by-hand', { ...this.lease?.spec, ...spec });
  }

  delete(): void {
    this.lease = undefined;
  }

  #existing(): Lease {
    if (this.lease === undefined) throw refusal(404, 'NotFound');
    return this.lease;
  }

  #store(uid: string, spec: LeaseSpec): Lease {
    this.#version += 1;
    const metadata = { name: 'election', namespace: 'home', uid, resourceVersion: `${this.#version}` };
    this.lease = { metadata, spec };
    const holder = spec.holderIdentity ?? '';
    if (this.holders.at(-1) !== holder) this.holders.push(holder);
    return this.lease;
  }

  /** An abort reaches the client at once, and the server never. */
  #travel({ outMs = 0, backMs = 0, lost }: Journey, signal: AbortSignal, serve: () => Lease): Promise<Lease> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new NetworkError('aborted', { code: 'ABORTED' })), {
        once: true,
      });
      if (lost === 'request') return;
      this.#clock.setTimer(outMs, () => {
        const answer = Promise.resolve().then(serve);
        const giveBack = () => answer.then(resolve, reject);
        answer.catch(() => undefined);
        if (lost !== 'answer') this.#clock.setTimer(backMs, () => void giveBack());
      });
    });
  }
}

function refusal(status: number, reason: string): ApiError {
  return new ApiError(reason, { status, reason });
}
