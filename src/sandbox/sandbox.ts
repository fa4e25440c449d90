/**
 * An API server in memory, on loopback, over plain HTTP, for kubectl and for our tests (SPEC B1).
 * One contract suite compares it with kube-apiserver 1.36.3.
 *
 * A real server does all this, and the sandbox does not:
 * - Kinds other than ConfigMaps, Namespaces, Leases, Events and the SelfSubject reviews; custom
 *   resources.
 * - Authentication, authorisation (everybody may do everything), admission other than
 *   NamespaceLifecycle, quotas, priority and fairness, audit, TLS.
 * - Answers in protobuf or CBOR, bodies in CBOR (kubectl sends protobuf bodies, which it decodes),
 *   schemas in OpenAPI v2, the deprecated /api/v1/watch/… paths.
 * - Persistence: a stop forgets everything. Events do not expire after an hour.
 * - ConfigMap `kube-root-ca.crt` and ServiceAccounts in new namespaces.
 * - The five seconds before a real controller manager empties a namespace. Here a later turn of the
 *   event loop does it, and collects garbage.
 * - Warnings of duplicate keys in JSON: the last one wins.
 * - Conversion of managedFields between API versions (Events written through both), and the limit
 *   on their number.
 * - The list of checks of `/readyz?verbose` and its like; their answer is `ok`.
 * - A 405 for HEAD of discovery and `/version`.
 * - The messages of Go's JSON and YAML parsers for every mistake; the long descriptions in OpenAPI.
 *
 * Its rooms, each of which imports only from rooms below it:
 * - `http`: server, routing, bodies, media types, rendering. Imports verbs and discovery, not
 *   storage.
 * - `controllers`: garbage collection and namespace deletion. Beside http and verbs, on storage.
 * - `verbs`: get to deletecollection, without HTTP.
 * - `discovery`: what the server lists about itself, and reviews. On kinds.
 * - `storage`: the objects, their history, and the rules of writing.
 * - `selectors` and `patch`: labels and fields; patches, apply and field ownership. On kinds.
 * - `kinds`: what is special about each kind.
 * - `schema`: the shape of objects, and decoding.
 * - `objects`: JSON, API objects, Status.
 */

import { setMaxListeners } from 'node:events';
import { GarbageCollector } from './controllers/garbage-collector.ts';
import { InternalWriter } from './controllers/internal-writer.ts';
import { NamespaceDeletion } from './controllers/namespace-deletion.ts';
import { HttpServer } from './http/http-server.ts';
import { Renderer } from './http/render.ts';
import { type RequestCount, RequestCounts } from './http/request-counts.ts';
import { ResourceHandlers } from './http/resource-handlers.ts';
import { type Outage, route } from './http/router.ts';
import { emptyObject } from './kinds/decode-as.ts';
import { namespaceKind } from './kinds/kind-namespace.ts';
import type { Kind } from './kinds/kinds.ts';
import { kinds } from './kinds/resources.ts';
import { kubeconfigFor } from './kubeconfig.ts';
import { withMeta } from './objects/kube-object.ts';
import { ObjectStore } from './storage/object-store.ts';
import { Registry } from './storage/registry.ts';
import { Reads } from './verbs/reads.ts';
import { Writes } from './verbs/writes.ts';

export type { Outage, RequestCount };

export interface SandboxOptions {
  /** Wall clock, for timestamps and ages. */
  readonly now: () => Date;
  /** Makes uids, and the random part of generated names. */
  readonly uid: () => string;
  /** In [0, 1); spreads the ends of watches without a timeout. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Number of changes that each collection remembers for watches and older pages. Default: 20,000.
   */
  readonly historyLimit?: number;
  /** Time (ms) between the bookmarks of a watch. Default: 60,000, as on a real server. */
  readonly bookmarkIntervalMs?: number;
}

export interface Sandbox {
  /** Listens on 127.0.0.1. Port 0 or none picks a free port. Rejects when the port is in use. */
  start(port?: number): Promise<void>;
  /** `http://127.0.0.1:PORT`; throws before `start`. */
  readonly url: string;
  /** YAML text for kubectl, with the context `sandbox`. */
  kubeconfig(): string;
  /** Requests since `start` by verb and resource, including those that were refused. */
  requestCounts(): readonly RequestCount[];
  /**
   * Forgets the history, as etcd's compaction does: older resourceVersions and continue tokens get
   * a 410.
   */
  compact(): void;
  /** While set, refuses the writes of clients whose User-Agent starts with `mirror-controller`. */
  outage(status: Outage | undefined): void;
  /** Ends watches and connections; resolves when all are closed. */
  stop(): Promise<void>;
}

const DEFAULT_HISTORY = 20_000;
const DEFAULT_BOOKMARK_INTERVAL_MS = 60_000;
const DEFAULT_NAMESPACES = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** A server that has not started yet. It cannot be started again after `stop`. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { now, uid } = options;
  const store = new ObjectStore({ historyLimit: options.historyLimit ?? DEFAULT_HISTORY });
  const registry = new Registry({ store, now, uid });
  const writer = new InternalWriter(registry, now);
  const counts = new RequestCounts();
  const stop = new AbortController();
  const garbageCollector = new GarbageCollector(registry, writer, stop.signal);
  const namespaceDeletion = new NamespaceDeletion(registry, writer, stop.signal);
  // Every watch listens to the signal. Node would report more than ten listeners as a leak.
  setMaxListeners(0, stop.signal);
  const renderer = new Renderer(now);
  const reads = new Reads({
    store,
    registry,
    random: options.random ?? Math.random,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? DEFAULT_BOOKMARK_INTERVAL_MS,
  });
  const writes = new Writes({ reads, registry, now });
  const handlers = new ResourceHandlers({ reads, writes, renderer, stop: stop.signal });
  let outage: Outage | undefined;
  const server = new HttpServer((exchange) =>
    route(exchange, { handlers, counts, now, host: () => server.host, outage: () => outage }),
  );
  return {
    async start(port = 0) {
      for (const name of DEFAULT_NAMESPACES) createNamespace(registry, name);
      const stored = storedKinds();
      garbageCollector.start(stored);
      namespaceDeletion.start(stored);
      await server.start(port);
    },
    get url() {
      return `http://${server.host}`;
    },
    kubeconfig: () => kubeconfigFor(`http://${server.host}`),
    requestCounts: () => counts.all(),
    compact: () => store.compact(),
    outage: (status) => {
      outage = status;
    },
    async stop() {
      stop.abort();
      await server.stop();
    },
  };
}

/** The kinds that the sandbox stores, sorted: `ConfigMap`, … */
export const servedKinds = (): readonly string[] => [...new Set(kinds.map(({ kind }) => kind))].sort();

/** For each collection, the kind in whose form it is stored. */
const storedKinds = (): readonly Kind[] =>
  kinds.filter((kind, i) => kinds.findIndex((other) => other.collection === kind.collection) === i);

function createNamespace(registry: Registry, name: string): void {
  const namespace = namespaceKind.canonicalize(withMeta(emptyObject(namespaceKind), { name }));
  registry.create(namespaceKind, namespace, false);
}
