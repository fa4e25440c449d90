/**
 * Stands between a client and an API server, the sandbox or a real one, and does the harm that a
 * test asks for (SPEC B2). It ends TLS on both sides, so that it can read and change what passes;
 * it logs every request.
 */
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterAccess } from './cluster-access.ts';
import { kubeconfigText } from './control-plane-files.ts';
import { FaultyBody } from './fault-proxy-reply.ts';
import {
  type ActiveFault,
  type Fault,
  type FaultRule,
  FaultRules,
  isWatch,
  type RequestLine,
} from './fault-proxy-rules.ts';
import { statusBody } from './fault-proxy-status.ts';
import { createAuthority } from './tls.ts';

export interface ProxiedRequest extends RequestLine {
  readonly isWatch: boolean;
  /** When it arrived, on `performance.now()`. */
  readonly at: number;
  /** What the client was told; absent while, and for ever when, it was told nothing. */
  status?: number;
  readonly fault?: Fault['kind'];
}

export interface FaultProxyOptions {
  readonly upstream: ClusterAccess;
  /** Whether clients speak TLS to it. Default true. */
  readonly tls?: boolean;
}

export interface FaultProxy extends AsyncDisposable {
  readonly url: string;
  /** What clients have to trust, PEM; absent without TLS. */
  readonly ca?: string;
  /**
   * Every request since the start, in the order of arrival, those that were refused a connection
   * not.
   */
  readonly requests: readonly ProxiedRequest[];
  /** A kubeconfig for the proxy with the upstream's token, or another one. */
  kubeconfig(token?: string): string;
  inject(rule: FaultRule): ActiveFault;
  /** Removes all rules. */
  heal(): void;
  /** Breaks every reply that is under way, watches above all. */
  cutOpenReplies(): void;
  /** Lets every reply that is under way fall silent, its connection open. */
  silenceOpenReplies(): void;
  /** Nobody listens any more and every connection is gone, as when the server has crashed. */
  refuseConnections(): Promise<void>;
  /** Listens again, on the same port. */
  acceptConnections(): Promise<void>;
  stop(): Promise<void>;
}

/** Listens on loopback when it resolves. */
export async function startFaultProxy({ upstream, tls = true }: FaultProxyOptions): Promise<FaultProxy> {
  const rules = new FaultRules();
  const requests: ProxiedRequest[] = [];
  const forwarder = new Forwarder(upstream);
  const stopping = new AbortController();
  const authority = tls ? await createAuthority('fault proxy') : undefined;
  const server = authority === undefined ? http.createServer() : https.createServer(await authority.server());
  server.on('request', (incoming, reply) => {
    const line = { method: incoming.method ?? '', path: incoming.url ?? '' };
    const fault = rules.take(line);
    const entry: ProxiedRequest = {
      ...line,
      isWatch: isWatch(line),
      at: performance.now(),
      ...(fault === undefined ? {} : { fault: fault.kind }),
    };
    requests.push(entry);
    serve({ incoming, reply, entry, fault, forwarder, signal: stopping.signal }).catch(() => {
      // A reply that ended early by a fault is whole for the client, which may be using the
      // connection again.
      if (!reply.writableFinished) incoming.socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const refuseConnections = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const stop = async () => {
    stopping.abort();
    if (server.listening) await refuseConnections();
    forwarder.close();
  };
  return {
    url,
    ...(authority === undefined ? {} : { ca: authority.cert }),
    requests,
    kubeconfig: (token = bearerToken(upstream)) =>
      kubeconfigText({
        url,
        ...(authority === undefined ? {} : { ca: authority.cert }),
        ...(token === undefined ? {} : { token }),
      }),
    inject: (rule) => rules.add(rule),
    heal: () => rules.clear(),
    cutOpenReplies: () => forwarder.cutAll(),
    silenceOpenReplies: () => forwarder.silenceAll(),
    refuseConnections,
    acceptConnections: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface Exchange {
  readonly incoming: http.IncomingMessage;
  readonly reply: http.ServerResponse;
  readonly entry: ProxiedRequest;
  readonly fault: Fault | undefined;
  readonly forwarder: Forwarder;
  readonly signal: AbortSignal;
}

/** Rejects when the client is to see its connection break. */
async function serve(exchange: Exchange): Promise<void> {
  const { incoming, reply, entry, fault, forwarder, signal } = exchange;
  switch (fault?.kind) {
    case 'status':
      // Read first: a server that answers early and closes makes the client see a reset instead of
      // the answer.
      await buffer(incoming);
      entry.status = fault.code;
      reply.statusCode = fault.code;
      reply.setHeader('content-type', 'application/json');
      if (fault.retryAfterSeconds !== undefined) reply.setHeader('retry-after', fault.retryAfterSeconds);
      reply.end(statusBody(fault));
      return;
    case 'reset':
      incoming.socket.destroy();
      return;
    case 'no-answer':
      incoming.resume();
      return;
    case 'lost-reply':
      await buffer(await forwarder.send(incoming, reply));
      throw new Error('the reply is lost');
    case 'delay':
      await delay(fault.ms, undefined, { signal });
      break;
    default:
  }
  const answer = await forwarder.send(incoming, reply);
  entry.status = answer.statusCode ?? 0;
  reply.writeHead(entry.status, withoutHopHeaders(answer.headers));
  reply.flushHeaders();
  await forwarder.pass(answer, new FaultyBody(reply, fault));
}

/** The way to the server, and the replies that are under way on it. */
class Forwarder {
  readonly #upstream: ClusterAccess;
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #open = new Set<FaultyBody>();

  constructor(upstream: ClusterAccess) {
    const isSecure = upstream.url.startsWith('https:');
    this.#upstream = upstream;
    this.#agent = isSecure
      ? new https.Agent({ ...upstream.tls, keepAlive: true })
      : new http.Agent({ keepAlive: true });
    this.#request = isSecure ? https.request : http.request;
  }

  /**
   * Passes the request on and resolves to the head of the answer. The client's credentials count
   * before the upstream's.
   */
  async send(incoming: http.IncomingMessage, reply: http.ServerResponse): Promise<http.IncomingMessage> {
    const body = await buffer(incoming);
    const { host: _host, ...headers } = withoutHopHeaders(incoming.headers);
    const outgoing = this.#request(`${this.#upstream.url}${incoming.url}`, {
      method: incoming.method,
      agent: this.#agent,
      headers: { ...this.#upstream.headers, ...headers, 'content-length': body.length },
    });
    // A client that gives up takes its request with it; harmless once the answer has come.
    reply.once('close', () => outgoing.destroy());
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [http.IncomingMessage];
    return answer;
  }

  async pass(answer: http.IncomingMessage, body: FaultyBody): Promise<void> {
    this.#open.add(body);
    try {
      await body.pass(answer);
    } finally {
      this.#open.delete(body);
    }
  }

  cutAll(): void {
    for (const body of this.#open) body.cut();
  }

  silenceAll(): void {
    for (const body of this.#open) body.silence();
  }

  close(): void {
    this.cutAll();
    this.#agent.destroy();
  }
}

/** Headers of one connection, not of the request (RFC 9110, section 7.6.1). */
function withoutHopHeaders(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const { connection: _c, 'keep-alive': _k, 'transfer-encoding': _t, upgrade: _u, ...others } = headers;
  return others;
}

function bearerToken({ headers }: ClusterAccess): string | undefined {
  return /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
}

/**
 * The most requests that arrived within any `windowMs`, by default a second: what a bound on the
 * load of a server in trouble is held against.
 */
export function busiest(requests: readonly ProxiedRequest[], windowMs = 1_000): number {
  let first = 0;
  let most = 0;
  for (const [last, { at }] of requests.entries()) {
    while (at - (requests[first]?.at ?? at) >= windowMs) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
