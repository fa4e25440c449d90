import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Common name of the client certificate. */
  readonly clientName: string | undefined;
}

export interface LoopbackServer {
  readonly url: string;
  /** `host:port`. */
  readonly host: string;
  /** In the order of their arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Connections accepted so far. */
  connections(): number;
  /** Cuts every connection and restarts on the same port with other certificates. */
  restart(tls: ServerOptions): Promise<void>;
  stop(): Promise<void>;
}

export type Handler = (request: ReceivedRequest, response: ServerResponse) => void;

/** An HTTP server, or with `tls` an HTTPS server, on loopback; it stops with the test. */
export async function startServer(handler: Handler, tls?: ServerOptions): Promise<LoopbackServer> {
  const requests: ReceivedRequest[] = [];
  const onRequest = (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = receivedRequest(incoming, Buffer.concat(chunks).toString());
      requests.push(request);
      handler(request, response);
    });
  };
  const listen = async (port: number, options: ServerOptions | undefined): Promise<Server> => {
    const started = options ? createHttpsServer(options, onRequest) : createHttpServer(onRequest);
    started.on('connection', () => {
      accepted++;
    });
    await new Promise<void>((resolve) => started.listen(port, '127.0.0.1', resolve));
    return started;
  };
  let accepted = 0;
  let server = await listen(0, tls);
  const { port } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    connections: () => accepted,
    restart: async (options) => {
      await stop();
      server = await listen(port, options);
    },
    stop,
  };
}

function receivedRequest(incoming: IncomingMessage, body: string): ReceivedRequest {
  const peer = (incoming.socket as Partial<TLSSocket>).getPeerCertificate?.();
  return {
    method: incoming.method ?? '',
    url: new URL(incoming.url ?? '/', 'http://server.invalid'),
    headers: incoming.headers,
    body,
    clientName: peer?.subject === undefined ? undefined : String(peer.subject.CN),
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
