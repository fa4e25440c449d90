import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { Cluster } from '../config/cluster.ts';
import { type Credential, UserCredentials } from '../config/credentials.ts';
import { ApiError, malformed, NetworkError } from '../errors.ts';
import { type Answer, answerTo } from './answer.ts';
import { Connections, type Dispatchers } from './connections.ts';
import { hostOf, isTlsFailure, networkErrorOf } from './network-error.ts';
import { RequestScope } from './request-scope.ts';
import { apiErrorOfReply } from './status.ts';
import type { ApiRequest, Transport, TransportOptions } from './transport.ts';

/** client-go's code of a request without an answer. */
const NO_ANSWER = '<error>';
const TIME_LIMIT_MS = 30_000;
const CONNECTIONS = 256;

export function createTransport(cluster: Cluster, options: TransportOptions): Transport {
  const transport = new PooledTransport(cluster, options);
  // One listener for all requests: from the eleventh on, Node warns of a leak.
  options.signal.addEventListener('abort', () => transport.abort(), { once: true });
  return transport;
}

class PooledTransport implements Transport {
  readonly server: string;
  readonly #origin: string;
  /** Prefix of every path: a proxy may serve several API servers under one host. */
  readonly #basePath: string;
  readonly #options: TransportOptions;
  readonly #credentials: UserCredentials;
  readonly #connections: Connections;
  readonly #timeLimitMs: number;
  readonly #open = new Set<RequestScope>();
  /** The server asked for no calls before this time on the clock. */
  #delayedUntil = Number.NEGATIVE_INFINITY;

  constructor(cluster: Cluster, options: TransportOptions) {
    const url = new URL(cluster.server);
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/$/, '');
    this.server = hostOf(url);
    this.#options = options;
    this.#timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
    this.#credentials = new UserCredentials(cluster.user ?? { name: 'anonymous' }, options.clock);
    this.#connections = new Connections(cluster, options.clock, options.connections ?? CONNECTIONS);
  }

  async call(request: ApiRequest): Promise<string> {
    const scope = this.#begin(request);
    const refusal = () => (request.mayBeSent?.() === false ? withdrawn(this.server) : undefined);
    try {
      const delayMs = this.#delayedUntil - this.#options.clock.now();
      if (delayMs > 0) await scope.wait(delayMs);
      const { headers, body } = await this.#send(request, scope, (options, { calls }) =>
        answerTo(calls, options, scope, refusal),
      );
      if (!isJson(headers)) {
        throw malformed(
          `${this.server} answered with something other than JSON: check that it is an API server`,
        );
      }
      // undici frees the connection in the next turn of the event loop. A caller who sends its next
      // request before that needs a second connection: 16 workers would open about 30.
      await nextTurn();
      return body;
    } catch (error) {
      throw this.#failure(error, scope);
    } finally {
      this.#end(scope);
    }
  }

  async stream(request: ApiRequest): Promise<AsyncIterable<Buffer>> {
    const scope = this.#begin(request);
    try {
      const { body } = await this.#send(request, scope, (options, { streams }) =>
        // undici ignores an abort while the request waits for a connection.
        scope.within(streams.request({ ...options, signal: scope })),
      );
      scope.stopTimeLimit();
      return this.#chunks(body, scope);
    } catch (error) {
      this.#end(scope);
      throw this.#failure(error, scope);
    }
  }

  /** Aborts all requests. */
  abort(): void {
    for (const scope of this.#open) scope.abort();
  }

  async close(): Promise<void> {
    await (this.#options.signal.aborted ? this.#connections.destroy() : this.#connections.close());
  }

  #begin({ signal }: ApiRequest): RequestScope {
    const scope = new RequestScope({ clock: this.#options.clock, server: this.server, signal });
    this.#open.add(scope);
    if (this.#options.signal.aborted) scope.abort();
    return scope;
  }

  #end(scope: RequestScope): void {
    this.#open.delete(scope);
    scope.dispose();
  }

  /**
   * Has `send` send the request, again where {@link Transport} says so, and resolves to its answer
   * if that is a success.
   */
  async #send<R extends Answer | Dispatcher.ResponseData>(
    request: ApiRequest,
    scope: RequestScope,
    send: (options: Dispatcher.DispatchOptions, dispatchers: Dispatchers) => Promise<R>,
  ): Promise<R> {
    const attempt = (credential: Credential) => this.#attempt(request, credential, send);
    // A plugin that hangs has a time limit of its own. It is to blame then, not the server.
    const whenKnown = async (credential: Promise<Credential>) => {
      scope.stopTimeLimit();
      const known = await scope.within(credential);
      scope.startTimeLimit(this.#timeLimitMs);
      return known;
    };
    const credential = await whenKnown(this.#credentials.current());
    let answer: R;
    try {
      answer = await attempt(credential);
    } catch (error) {
      if (!isTlsFailure(error)) throw error;
      const hasNewAuthority = this.#connections.rereadAuthority();
      const renewed = await whenKnown(this.#credentials.renew(credential));
      if (!hasNewAuthority && renewed === credential) throw error;
      answer = await attempt(renewed);
    }
    if (answer.statusCode === 401) {
      const refusal = await this.#refusal(answer);
      const renewed = await whenKnown(this.#credentials.renew(credential));
      if (renewed === credential) throw refusal;
      answer = await attempt(renewed);
    }
    if (!isSuccess(answer)) throw await this.#refusal(answer);
    return answer;
  }

  async #attempt<R extends Answer | Dispatcher.ResponseData>(
    { method, path, headers, body }: ApiRequest,
    credential: Credential,
    send: (options: Dispatcher.DispatchOptions, dispatchers: Dispatchers) => Promise<R>,
  ): Promise<R> {
    const options = {
      origin: this.#origin,
      method,
      path: this.#basePath + path,
      headers: {
        accept: 'application/json',
        ...headers,
        ...credential.headers,
        'user-agent': this.#options.userAgent,
      },
      body: body ?? null,
      // Otherwise undici closes the connection after a DELETE with a body.
      reset: false,
    };
    const { onAnswer } = this.#options;
    try {
      const answer = await send(options, this.#connections.for(credential));
      onAnswer?.(String(answer.statusCode), method);
      return answer;
    } catch (error) {
      onAnswer?.(NO_ANSWER, method);
      throw error;
    }
  }

  /** The error of an answer that is no success. Reads all of it, which frees the connection. */
  async #refusal({ statusCode, headers, body }: Answer | Dispatcher.ResponseData): Promise<ApiError> {
    const { clock, longestDelayMs = Number.POSITIVE_INFINITY } = this.#options;
    const reply = {
      status: statusCode,
      body: typeof body === 'string' ? body : await body.text(),
      retryAfter: headers['retry-after']?.toString(),
    };
    const error = apiErrorOfReply(reply, this.server, clock.wallTime());
    // The server is there and wants fewer requests (429), or none for the moment (503).
    if (error.retryAfterMs !== undefined && (statusCode === 429 || statusCode === 503)) {
      const delayMs = Math.min(error.retryAfterMs, longestDelayMs);
      this.#delayedUntil = Math.max(this.#delayedUntil, clock.now() + delayMs);
    }
    return error;
  }

  async *#chunks(body: AsyncIterable<Buffer>, scope: RequestScope): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* body;
    } catch (error) {
      throw this.#failure(error, scope);
    } finally {
      this.#end(scope);
    }
  }

  #failure(error: unknown, scope: RequestScope): Error {
    return scope.reason ?? (error instanceof ApiError ? error : networkErrorOf(error, this.server));
  }
}

const withdrawn = (server: string): NetworkError =>
  new NetworkError(`a request to ${server} was not sent, because it is no longer allowed`, {
    code: 'ABORTED',
  });

/** Not redirects: an API server has no reason to send one, and a credential must not follow it. */
const isSuccess = ({ statusCode }: Pick<Answer, 'statusCode'>): boolean =>
  statusCode >= 200 && statusCode < 300;

/** A login page or a captive portal answers 200 too. */
const isJson = ({ 'content-type': contentType }: Answer['headers']): boolean =>
  contentType === undefined || contentType.includes('json');
