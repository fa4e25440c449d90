import { text } from 'node:stream/consumers';
import { type Clock, sleep } from '../../clock/clock.ts';
import type { Cluster } from '../config/cluster.ts';
import { type Credential, type Credentials, UserCredentials } from '../config/credentials.ts';
import { ApiError } from '../errors.ts';
import { Connections } from './connections.ts';
import { Deadlines } from './deadlines.ts';
import { type Answer, beginExchange, exchange } from './exchange.ts';
import { hostOf, isTlsFailure, networkErrorOf } from './network-error.ts';
import { type ApiReply, isSuccess, refusalOf, replyOf } from './reply.ts';
import { RequestScope } from './request-scope.ts';

export type { ApiReply };

export interface TransportOptions {
  readonly clock: Clock;
  /** Sent as `User-Agent`, e.g. `mirror-controller/1.2.3`. */
  readonly userAgent: string;
  /** Ends every request at once when it aborts: the process stops. */
  readonly signal: AbortSignal;
  /** A call's answer, or a watch's first byte, takes no longer; milliseconds, default 30,000. */
  readonly timeLimitMs?: number;
  /** Connections for calls, hence calls in flight; default 32. Watches have their own. */
  readonly connections?: number;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the server's URL, with the query: `/api/v1/configmaps?limit=100`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Gives this one request up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Requests to one API server. Both methods reject with `ApiError` for every status that is not a success and with
 * `NetworkError` for everything else, and repeat a request only where the server cannot have acted on the first:
 * once after a 401 with a credential that is new, once after a failed TLS handshake with certificates that are new.
 * All other repetition, of reads too, is the caller's: only it knows whether the answer is still wanted.
 */
export interface Transport {
  /** `host:port` of the server, for messages. */
  readonly server: string;
  /** One request and its whole answer, within the time limit. */
  call(request: ApiRequest): Promise<ApiReply>;
  /**
   * The body as it arrives, however long that takes; only the time until it begins is limited. Leaving the loop over
   * it, or the signal's abort, closes the request.
   */
  stream(request: ApiRequest): Promise<AsyncIterable<Buffer>>;
  /** Closes the connections, once what is in flight has ended; at once when the transport's signal has aborted. */
  close(): Promise<void>;
}

/** Sends a request with a credential, once. */
type Send<R> = (credential: Credential) => Promise<R>;

const TIME_LIMIT_MS = 30_000;
const CONNECTIONS = 32;
/** The longest that one answer's `Retry-After` holds back all calls; whoever got the answer knows the whole of it. */
const LONGEST_HOLD_MS = 30_000;

export function createTransport(cluster: Cluster, options: TransportOptions): Transport {
  const transport = new PooledTransport(cluster, options);
  // One listener for all requests: Node takes more than ten for a leak, and each costs as much as a timer.
  options.signal.addEventListener('abort', () => transport.giveUp(), { once: true });
  return transport;
}

class PooledTransport implements Transport {
  readonly server: string;
  readonly #origin: string;
  /** What comes before every path: an API server may be behind a proxy that serves several. */
  readonly #basePath: string;
  readonly #options: TransportOptions;
  readonly #credentials: Credentials;
  readonly #connections: Connections;
  readonly #deadlines: Deadlines;
  readonly #open = new Set<RequestScope>();
  /** No call leaves before this reading of the clock, because the server asked for it. */
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(cluster: Cluster, options: TransportOptions) {
    const url = new URL(cluster.server);
    const { origin, pathname } = url;
    this.#origin = origin;
    this.#basePath = pathname.replace(/\/$/, '');
    this.server = hostOf(url);
    this.#options = options;
    this.#credentials = new UserCredentials(cluster.user ?? { name: 'anonymous' }, options.clock);
    this.#deadlines = new Deadlines(options.clock, options.timeLimitMs ?? TIME_LIMIT_MS);
    this.#connections = new Connections(cluster, options.clock, options.connections ?? CONNECTIONS);
  }

  async call(request: ApiRequest): Promise<ApiReply> {
    const scope = this.#scope(request);
    try {
      if (this.#heldUntil > this.#options.clock.now()) await this.#hold(scope);
      if (scope.failure) throw scope.failure;
      scope.startLimit();
      const answer = await this.#send(scope, (credential) =>
        exchange(this.#connections.for(credential).calls, this.#dispatched(request, credential), scope),
      );
      if (!isSuccess(answer)) throw this.#refusal(answer);
      await untilReusable();
      return replyOf(answer, this.server);
    } catch (error) {
      throw this.#failure(error, scope);
    } finally {
      this.#dispose(scope);
    }
  }

  async stream(request: ApiRequest): Promise<AsyncIterable<Buffer>> {
    const scope = this.#scope(request);
    try {
      scope.startLimit();
      const { body, ...head } = await this.#send(scope, async (credential) => {
        const response = await beginExchange(
          this.#connections.for(credential).watches,
          this.#dispatched(request, credential),
          scope,
        );
        // A refusal is read at once: it is not repeated on a connection that still waits for that.
        return isSuccess(response) ? response : { ...response, body: await text(response.body) };
      });
      if (typeof body === 'string') throw this.#refusal({ ...head, body });
      scope.stopLimit();
      return this.#chunks(body, scope);
    } catch (error) {
      this.#dispose(scope);
      throw this.#failure(error, scope);
    }
  }

  /** Ends all that is in flight. */
  giveUp(): void {
    for (const scope of this.#open) scope.giveUp();
  }

  async close(): Promise<void> {
    await (this.#options.signal.aborted ? this.#connections.destroy() : this.#connections.close());
  }

  #scope({ signal }: ApiRequest): RequestScope {
    const scope = new RequestScope({ deadlines: this.#deadlines, signal, server: this.server });
    this.#open.add(scope);
    if (this.#options.signal.aborted) scope.giveUp();
    return scope;
  }

  #dispose(scope: RequestScope): void {
    this.#open.delete(scope);
    scope.dispose();
  }

  /** Waits out the server's `Retry-After`; the time limit of the call begins after it. */
  async #hold(scope: RequestScope): Promise<void> {
    const { clock } = this.#options;
    await sleep(clock, this.#heldUntil - clock.now(), scope.signal());
  }

  /** Sends, and once more where that is safe and promises something, see {@link Transport}. */
  async #send<R extends { readonly statusCode: number }>(scope: RequestScope, send: Send<R>): Promise<R> {
    const current = this.#credentials.current();
    const credential = current instanceof Promise ? await scope.within(current) : current;
    let response: R;
    try {
      response = await send(credential);
    } catch (error) {
      if (!isTlsFailure(error)) throw error;
      const hasNewAuthority = this.#connections.rereadAuthority();
      const renewed = await scope.within(this.#credentials.renew(credential));
      if (!hasNewAuthority && renewed === credential) throw error;
      return await send(renewed);
    }
    if (response.statusCode !== 401) return response;
    const renewed = await scope.within(this.#credentials.renew(credential));
    return renewed === credential ? response : await send(renewed);
  }

  #dispatched(request: ApiRequest, credential: Credential) {
    return {
      origin: this.#origin,
      method: request.method,
      path: this.#basePath + request.path,
      headers: {
        accept: 'application/json',
        ...request.headers,
        ...credential.headers,
        'user-agent': this.#options.userAgent,
      },
      body: request.body ?? null,
    };
  }

  #refusal(answer: Answer): ApiError {
    const { clock } = this.#options;
    const error = refusalOf(answer, this.server, clock.wallTime());
    if (isOverloaded(error)) {
      const holdMs = Math.min(error.retryAfterMs, LONGEST_HOLD_MS);
      this.#heldUntil = Math.max(this.#heldUntil, clock.now() + holdMs);
    }
    return error;
  }

  async *#chunks(body: AsyncIterable<Buffer>, scope: RequestScope): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of body) yield chunk;
    } catch (error) {
      throw this.#failure(error, scope);
    } finally {
      this.#dispose(scope);
    }
  }

  #failure(error: unknown, scope: RequestScope): Error {
    return scope.failure ?? (error instanceof ApiError ? error : networkErrorOf(error, this.server));
  }
}

/**
 * Resolves when the connection of an answer that has just ended can be used again. undici leaves it alone for a turn of the
 * event loop; a caller who went on before would have the pool open one more, a millisecond of our time besides the
 * handshake: 16 workers had 29 connections. Only for successes: what a refusal asks of all calls is heeded at once.
 */
const untilReusable = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The server is there and wants fewer requests (429), or none for the moment (503). */
const isOverloaded = (error: ApiError): error is ApiError & { readonly retryAfterMs: number } =>
  (error.status === 429 || error.status === 503) && error.retryAfterMs !== undefined;
