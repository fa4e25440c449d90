import { lookup } from 'node:dns/promises';
import { Agent } from 'undici';
import type { Clock } from '../../clock/clock.ts';
import { codeOf, hostOf, isTlsFailure } from '../../kube/http/network-error.ts';
import { retryAfterOfHeader } from '../../kube/http/status.ts';
import { checkHost, guardedLookup, type ResolveHost } from './refused-addresses.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Certificate authorities (PEM) instead of the usual ones. */
  readonly ca: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The beginning of the body. Never to be logged: it may repeat what was sent. */
  readonly text: string;
}

/** There was no answer. The message is one clause without secrets. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  /** Whether the receiver may have got the request. */
  readonly mayHaveArrived: boolean;

  constructor(message: string, mayHaveArrived: boolean, cause: unknown) {
    super(message, { cause });
    this.mayHaveArrived = mayHaveArrived;
  }
}

export interface HttpClientOptions {
  /** Time limit (ms) from the beginning to the end of the answer. */
  readonly timeoutMs: number;
  /** Connections at once. */
  readonly connections: number;
  readonly clock: Clock;
  /** Default: the system's resolver. */
  readonly resolveHost?: ResolveHost | undefined;
}

/** Most of an answer's body (bytes) that is read. */
const MAX_BODY_BYTES = 64 * 1024;
/** Idle time (ms) after which a connection closes. */
const KEEP_ALIVE_MS = 10_000;

/** Codes that say that no connection was made. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'cannot be resolved',
  EAI_AGAIN: 'cannot be resolved at the moment',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached in time',
  ERR_REFUSED_ADDRESS: 'is a link-local or metadata address, to which nothing is sent',
};

/** Sends the notifications of one sink. It follows no redirects and reads no endless answers. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  #open: { readonly agent: Agent; readonly ca: string | undefined } | undefined;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  /** Rejects with `NoAnswerError`. Any status is an answer, a redirect too. */
  async post({ url, headers, body, ca }: Post, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, clock } = this.#options;
    const target = new URL(url);
    const scope = new AbortController();
    const abort = () => scope.abort();
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const timer = clock.setTimer(timeoutMs, abort);
    try {
      checkHost(target.hostname);
      const answer = await this.#agent(ca).request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers,
        body,
        signal: scope.signal,
      });
      return {
        status: answer.statusCode,
        retryAfterMs: retryAfterOfHeader([answer.headers['retry-after']].flat()[0], clock.wallTime()),
        // Whatever becomes of the body: the status says whether the receiver took it.
        text: await beginningOf(answer.body).catch(() => ''),
      };
    } catch (error) {
      throw noAnswer(
        error,
        hostOf(target),
        scope.signal.aborted && `did not answer within ${timeoutMs / 1000} s`,
      );
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    await this.#open?.agent.destroy();
  }

  #agent(ca: string | undefined): Agent {
    const { timeoutMs, connections, resolveHost = systemResolver } = this.#options;
    if (this.#open && this.#open.ca === ca) return this.#open.agent;
    void this.#open?.agent.close();
    const connect = {
      lookup: guardedLookup(resolveHost),
      timeout: timeoutMs,
      ...(ca !== undefined && { ca }),
    };
    // The time limit is ours, on our clock.
    const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
    const agent = new Agent({ ...limits, connect, connections, pipelining: 1 });
    this.#open = { agent, ca };
    return agent;
  }
}

const systemResolver: ResolveHost = (hostname, options) => lookup(hostname, { ...options, all: true });

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_BODY_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString();
}

/** `ended`: what to say if the request was ended by us. */
function noAnswer(error: unknown, host: string, ended: string | false): NoAnswerError {
  const code = codeOf(error);
  const unreached = UNREACHED[code];
  if (unreached !== undefined) return new NoAnswerError(`${host} ${unreached}`, false, error);
  if (isTlsFailure(error))
    return new NoAnswerError(`${host} has no valid certificate (${code})`, false, error);
  return new NoAnswerError(`${host} ${ended || `closed the connection (${code})`}`, true, error);
}
