import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { aborted, type Clock } from '../../clock/clock.ts';
import { withinLimit } from '../../clock/within-limit.ts';
import { codeOf, hostOf, isCertificateFailure, isTlsFailure } from '../../kube/http/network-error.ts';
import { retryAfterOfHeader } from '../../kube/http/status.ts';
import { checkHost, guardedLookup } from './refused-addresses.ts';
import type { ResolveHost } from './resolve-host.ts';

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
  readonly resolveHost: ResolveHost;
}

/** Most of an answer's body (bytes) that is read. */
const MAX_BODY_BYTES = 64 * 1024;
/** Idle time (ms) after which a connection closes. */
const KEEP_ALIVE_MS = 10_000;

const NO_TLS = 'does not speak TLS: check the port';
/** What it means that there is no connection, by code. */
const UNREACHED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ENOTFOUND: 'cannot be resolved',
  EAI_AGAIN: 'cannot be resolved at the moment',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
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
    let isSent = false;
    const onSend = () => {
      isSent = true;
    };
    return withinLimit(clock, timeoutMs, signal, async (limited) => {
      try {
        checkHost(target.hostname);
        const request = this.#agent(ca).request({
          origin: target.origin,
          path: target.pathname + target.search,
          method: 'POST',
          headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
          body: Readable.from(once(body, onSend)),
          signal: limited,
        });
        // undici ignores an abort while the request waits for a connection.
        const cut = aborted(limited).then(() => Promise.reject(new Error('aborted')));
        const answer = await Promise.race([request, cut]);
        return {
          status: answer.statusCode,
          retryAfterMs: retryAfterOfHeader([answer.headers['retry-after']].flat()[0], clock.wallTime()),
          // Whatever becomes of the body: the status says whether the receiver took it.
          text: await beginningOf(answer.body).catch(() => ''),
        };
      } catch (error) {
        const isLate = limited.aborted || codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT';
        const limit = signal.aborted ? 'before the attempt was interrupted' : `within ${timeoutMs / 1000} s`;
        const late = `${isSent ? 'did not answer' : 'was not reached'} ${limit}`;
        const what = isLate ? late : failureOf(error);
        throw new NoAnswerError(`${hostOf(target)} ${what}`, isSent, error);
      }
    });
  }

  async close(): Promise<void> {
    await this.#open?.agent.destroy();
  }

  #agent(ca: string | undefined): Agent {
    const { timeoutMs, connections, resolveHost } = this.#options;
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

/** The body, which is asked for when there is a connection to write it to. */
function* once(body: string, onSend: () => void): Iterable<Buffer> {
  onSend();
  yield Buffer.from(body);
}

function failureOf(error: unknown): string {
  const code = codeOf(error);
  const unreached = UNREACHED[code];
  if (unreached !== undefined) return unreached;
  if (isCertificateFailure(code)) return `has no valid certificate (${code})`;
  if (isTlsFailure(error)) return `refused the TLS handshake (${code})`;
  if (code.startsWith('HPE_')) return 'does not speak HTTP';
  return `closed the connection (${code})`;
}
