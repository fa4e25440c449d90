import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Exchange } from './http-exchange.ts';

const LOOPBACK = '127.0.0.1';
/**
 * Time (ms) that an idle connection stays open. Clients close theirs sooner, so none is reset on
 * reuse.
 */
const KEEP_ALIVE_MS = 180_000;

const GRACE_MS = 1000;

/**
 * The listening socket. It answers with whatever a handler throws, so no request ends the process.
 */
export class HttpServer {
  readonly #server: Server;
  readonly #underWay = new Set<Promise<void>>();
  #port: number | undefined;

  constructor(handle: (exchange: Exchange) => Promise<void>) {
    this.#server = createServer((request, response) => {
      const answered = answer(request, response, handle);
      this.#underWay.add(answered);
      void answered.finally(() => this.#underWay.delete(answered));
    });
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.requestTimeout = 0;
  }

  /** `127.0.0.1:PORT`. It stays the same after `stop`. */
  get host(): string {
    if (this.#port === undefined) throw new Error('the sandbox has no address before it has started');
    return `${LOOPBACK}:${this.#port}`;
  }

  async start(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException) => reject(explain(error, port));
      this.#server.once('error', refused);
      this.#server.listen({ host: LOOPBACK, port }, () => {
        this.#server.removeListener('error', refused);
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Waits up to a second for answers in progress. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const patience = new AbortController();
    await Promise.race([
      Promise.allSettled(this.#underWay),
      delay(GRACE_MS, undefined, { signal: patience.signal }).catch(() => undefined),
    ]);
    patience.abort();
    this.#server.closeAllConnections();
    await closed;
  }
}

function explain(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new Error(`port ${port} of ${LOOPBACK} is taken: choose another, or 0 for a free one`, {
      cause: error,
    });
  }
  if (error.code === 'EACCES') {
    return new Error(`port ${port} of ${LOOPBACK} needs privileges: choose one above 1023`, { cause: error });
  }
  return new Error(`cannot listen on ${LOOPBACK}:${port}: ${error.message}`, { cause: error });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (exchange: Exchange) => Promise<void>,
): Promise<void> {
  // A client that leaves in the middle of a request is not an error.
  request.on('error', () => response.destroy());
  response.on('error', () => response.destroy());
  const exchange = new Exchange(request, response);
  try {
    await handle(exchange);
  } catch (error) {
    exchange.fail(error);
  }
}
