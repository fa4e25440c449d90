import { createSecureContext } from 'node:tls';
import { type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../../clock/clock.ts';
import type { Cluster } from '../config/cluster.ts';
import type { Credential } from '../config/credentials.ts';
import { RotatingText } from '../config/rotating-text.ts';
import { NetworkError } from '../errors.ts';
import { proxyErrorOf } from './network-error.ts';

/** Two sets of connections, so that a call never queues behind a watch. */
export interface Dispatchers {
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

/**
 * Below the idle time-out of API servers (90 s), so that we close first. Not much: a write that has to
 * open a connection after a quiet time takes a third to two thirds longer (docs/performance.md).
 */
const KEEP_ALIVE_MS = 85_000;
/** When TCP begins to ask whether a silent peer is still there. */
const TCP_PROBE_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The kept-alive connections to one server under one set of certificates. When the certificate authority or the
 * client certificate has changed, new connections are opened under the new ones, and the old drain: what is in flight
 * on them ends as it would have.
 */
export class Connections {
  readonly #cluster: Cluster;
  readonly #maxCalls: number;
  readonly #connectTimeoutMs: number;
  readonly #ca: RotatingText | undefined;
  #open: { readonly material: Material; readonly dispatchers: Dispatchers } | undefined;
  readonly #draining = new Set<Dispatcher>();

  /**
   * `maxCalls`: connections for calls, hence calls in flight; watches have as many as they need. `connectTimeoutMs`, real
   * milliseconds, is for each step by itself: to the proxy, its answer, to the server.
   */
  constructor(cluster: Cluster, clock: Clock, maxCalls: number, connectTimeoutMs = CONNECT_TIMEOUT_MS) {
    this.#cluster = cluster;
    this.#maxCalls = maxCalls;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#ca = cluster.tls?.ca && new RotatingText(cluster.tls.ca, clock);
  }

  /** The connections under the present certificates. Throws `NetworkError` (`CREDENTIALS`) when there are no usable ones. */
  for(credential: Credential): Dispatchers {
    const ca = this.#authority(() => this.#ca?.current());
    const { cert, key } = credential.clientCertificate ?? {};
    const material: Material = { ca, cert, key };
    if (this.#open && areSame(material, this.#open.material)) return this.#open.dispatchers;
    const previous = this.#open?.dispatchers;
    let dispatchers: Dispatchers;
    try {
      dispatchers = this.#connect(material);
    } catch (error) {
      // Certificate and key are two files: between the two writes of a rotation they do not match.
      if (previous !== undefined) return previous;
      throw unusable('the client certificate and its key do not fit', error);
    }
    this.#open = { material, dispatchers };
    if (previous !== undefined) this.#drain(previous);
    return dispatchers;
  }

  /** Reads the certificate authority again, after the server's certificate was not accepted. True when it changed. */
  rereadAuthority(): boolean {
    return this.#authority(() => {
      const before = this.#ca?.current();
      return this.#ca?.reread() !== before;
    });
  }

  #authority<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw unusable(
        `its certificate authority cannot be read from ${(error as NodeJS.ErrnoException).path}`,
        error,
      );
    }
  }

  /** Waits for what is in flight, then closes the connections. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#all().map((dispatcher) => dispatcher.close()));
  }

  /** Cuts the connections, those that have not come about yet included. */
  async destroy(): Promise<void> {
    await Promise.allSettled(this.#all().map((dispatcher) => dispatcher.destroy()));
  }

  #all(): Dispatcher[] {
    const { calls, streams } = this.#open?.dispatchers ?? {};
    return [...this.#draining, calls, streams].filter((dispatcher) => dispatcher !== undefined);
  }

  #drain({ calls, streams }: Dispatchers): void {
    for (const dispatcher of [calls, streams]) {
      this.#draining.add(dispatcher);
      const forget = () => this.#draining.delete(dispatcher);
      dispatcher.close().then(forget, forget);
    }
  }

  #connect(material: Material): Dispatchers {
    const { server, proxyUrl, tls } = this.#cluster;
    const { origin, protocol } = new URL(server);
    const connect: buildConnector.BuildOptions = {
      // One context for all connections: parsing a bundle of certificates for each of them costs milliseconds.
      ...(protocol === 'https:' && { secureContext: createSecureContext(withoutAbsent(material)) }),
      ...(tls?.skipVerify && { rejectUnauthorized: false }),
      ...(tls?.serverName !== undefined && { servername: tls.serverName }),
      timeout: this.#connectTimeoutMs,
      keepAliveInitialDelay: TCP_PROBE_MS,
    };
    // Time limits on answers are the transport's, on the injected clock.
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
   * What a `ProxyAgent` opens its tunnels with. Left to itself, undici waits 300 s for the answer of a proxy; and after
   * UND_ERR_SOCKET (a proxy that closes the connection instead of answering) it takes the failure for a passing one and
   * connects again at once, over and over, also when nobody waits any more. An error under a code of ours ends the request.
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

/** PEM: what connections are made with. */
interface Material {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

function areSame(a: Material, b: Material): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key;
}

function unusable(reason: string, cause: unknown): NetworkError {
  return new NetworkError(`no connection to the cluster: ${reason}`, { code: 'CREDENTIALS', cause });
}

function withoutAbsent(material: Material): Record<string, string> {
  const present = Object.entries(material).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return Object.fromEntries(present);
}
