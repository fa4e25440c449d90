import { createSecureContext } from 'node:tls';
import { type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../../clock/clock.ts';
import type { Cluster } from '../config/cluster.ts';
import type { Credential } from '../config/credentials.ts';
import { RotatingText } from '../config/rotating-text.ts';
import { NetworkError } from '../errors.ts';
import { proxyErrorOf } from './network-error.ts';

/** Two pools of connections, so that a call never waits for a stream to end. */
export interface Dispatchers {
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

/** Idle time (ms) after which we close a connection; API servers do so after 90 s. */
const KEEP_ALIVE_MS = 85_000;
/** Idle time (ms) after which TCP probes whether the peer is still there. */
const TCP_PROBE_MS = 30_000;
/** Time limit (ms) for each step of connecting: to the proxy, its answer, to the server. */
const CONNECT_TIMEOUT_MS = 10_000;

/** PEM texts that connections are made with. */
interface Certificates {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/**
 * The kept-alive connections to one server under one set of certificates. When a certificate
 * changes, new connections use the new one, and the old ones close after their last request.
 */
export class Connections {
  readonly #cluster: Cluster;
  readonly #maxCalls: number;
  readonly #connectTimeoutMs: number;
  readonly #ca: RotatingText | undefined;
  #open: { readonly certificates: Certificates; readonly dispatchers: Dispatchers } | undefined;
  /** Those of the present certificates, and older ones until their last request has ended. */
  readonly #all = new Set<Dispatcher>();

  /** `maxCalls`: most connections for calls. Streams have as many as they need. */
  constructor(cluster: Cluster, clock: Clock, maxCalls: number, connectTimeoutMs = CONNECT_TIMEOUT_MS) {
    this.#cluster = cluster;
    this.#maxCalls = maxCalls;
    this.#connectTimeoutMs = connectTimeoutMs;
    const what = 'no connection to the cluster: its certificate authority';
    this.#ca = cluster.tls?.ca && new RotatingText(cluster.tls.ca, clock, what);
  }

  /**
   * The connections under the present certificates. Throws `NetworkError` (`CREDENTIALS`) if there
   * are no usable ones.
   */
  for(credential: Credential): Dispatchers {
    const { cert, key } = credential.clientCertificate ?? {};
    const certificates: Certificates = { ca: this.#ca?.current(), cert, key };
    if (this.#open && areSame(certificates, this.#open.certificates)) return this.#open.dispatchers;
    const previous = this.#open?.dispatchers;
    let dispatchers: Dispatchers;
    try {
      dispatchers = this.#connect(certificates);
    } catch (error) {
      // Certificate and key are two files: during a rotation they do not match for a moment.
      if (previous !== undefined) return previous;
      const message =
        'no connection to the cluster: the client certificate and its key do not belong together';
      throw new NetworkError(message, { code: 'CREDENTIALS', cause: error });
    }
    this.#open = { certificates, dispatchers };
    this.#all.add(dispatchers.calls).add(dispatchers.streams);
    if (previous !== undefined) this.#drain(previous);
    return dispatchers;
  }

  /**
   * Reads the certificate authority again, after the server's certificate was not accepted. True if
   * it has changed.
   */
  rereadAuthority(): boolean {
    const before = this.#ca?.current();
    return this.#ca?.reread() !== before;
  }

  /** Closes the connections once their requests have ended. */
  async close(): Promise<void> {
    await Promise.allSettled(Array.from(this.#all, (dispatcher) => dispatcher.close()));
  }

  /** Cuts the connections, including those that are not established yet. */
  async destroy(): Promise<void> {
    await Promise.allSettled(Array.from(this.#all, (dispatcher) => dispatcher.destroy()));
  }

  #drain({ calls, streams }: Dispatchers): void {
    for (const dispatcher of [calls, streams]) {
      const forget = () => this.#all.delete(dispatcher);
      dispatcher.close().then(forget, forget);
    }
  }

  #connect(certificates: Certificates): Dispatchers {
    const { server, proxyUrl, tls } = this.#cluster;
    const { origin, protocol } = new URL(server);
    const connect: buildConnector.BuildOptions = {
      // One context for all connections: to parse a bundle of certificates takes milliseconds.
      ...(protocol === 'https:' && { secureContext: createSecureContext(certificates) }),
      ...(tls?.skipVerify && { rejectUnauthorized: false }),
      ...(tls?.serverName !== undefined && { servername: tls.serverName }),
      timeout: this.#connectTimeoutMs,
      keepAliveInitialDelay: TCP_PROBE_MS,
    };
    // The transport has the time limits for answers, on its clock.
    const common = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
    const open = (connections: number | null): Dispatcher =>
      proxyUrl === undefined
        ? new Pool(origin, { ...common, connect, connections })
        : new ProxyAgent({
            ...common,
            uri: proxyUrl,
            requestTls: connect,
            proxyTls: { timeout: this.#connectTimeoutMs, keepAliveInitialDelay: TCP_PROBE_MS },
            clientFactory: (proxy, options) => this.#tunnels(proxy, options),
            connections,
          });
    return { calls: open(this.#maxCalls), streams: open(null) };
  }

  /**
   * The pool that a `ProxyAgent` opens its tunnels with. By default undici waits 300 s for a
   * proxy's answer. And if the proxy closes the connection instead (UND_ERR_SOCKET), undici takes
   * that for a passing failure and reconnects in a hot loop, even when no request waits any more.
   * An error with a code of ours ends the request instead.
   */
  #tunnels(proxy: URL, options: object): Dispatcher {
    const pool = new Pool(proxy, { ...options, headersTimeout: this.#connectTimeoutMs });
    const open: (request: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> =
      pool.connect.bind(pool);
    return Object.assign(pool, {
      connect: async (request: Dispatcher.ConnectOptions) => {
        try {
          return await open(request);
        } catch (error) {
          throw proxyErrorOf(error, new URL(this.#cluster.server), proxy);
        }
      },
    });
  }
}

function areSame(a: Certificates, b: Certificates): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}
