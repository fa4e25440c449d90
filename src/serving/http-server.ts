import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../telemetry/logger.ts';

export interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export type PageSource = (query: URLSearchParams) => Page | Promise<Page>;
/** By path. */
export type Pages = ReadonlyMap<string, PageSource>;

export interface HttpServerOptions {
  /** Undefined: all addresses of the machine. */
  readonly host: string | undefined;
  /** 0: a free one. */
  readonly port: number;
  readonly pages: Pages;
  readonly log: Logger;
}

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** Cuts all connections. Resolves when the port is free. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Limits for slow or malicious clients: only probes and a scraper should come. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8_192,
};
const SILENCE_MS = 30_000;
const CONNECTIONS = 64;

/** Serves pages, to GET and HEAD only. Rejects with Node's error if it cannot listen. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, pages, log } = options;
  const server = createServer(LIMITS, (request, response) => {
    answer(request, pages).then(
      (page) => send(response, page),
      (err) => {
        log.error({ path: request.url, err }, 'a page failed');
        send(response, text(500, 'internal server error'));
      },
    );
  });
  server.timeout = SILENCE_MS;
  server.maxConnections = CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer({ method, url = '' }: IncomingMessage, pages: Pages): Promise<Page> {
  const [path = '', query] = url.split('?', 2);
  const page = pages.get(path);
  if (page === undefined) return text(404, `not found; there are ${[...pages.keys()].join(', ')}`);
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET and HEAD are allowed');
  return page(new URLSearchParams(query));
}

function text(status: number, sentence: string): Page {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

function send(response: ServerResponse, { status, contentType, body }: Page): void {
  const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
  const allow = status === 405 && { allow: 'GET, HEAD' };
  response.writeHead(status, { ...headers, ...allow, 'x-content-type-options': 'nosniff' }).end(body);
}
