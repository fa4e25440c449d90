import { backoffDelay } from '../clock/backoff.ts';
import { type Clock, sleep } from '../clock/clock.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { ApiError, isForbidden, isUnauthorized, NetworkError } from '../kube/errors.ts';
import type { Transport } from '../kube/http/transport.ts';
import type { Logger } from '../telemetry/logger.ts';
import { RunError } from './errors.ts';

export interface FirstContact {
  readonly transport: Transport;
  readonly cluster: Cluster;
  /** The namespaces that are watched; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** As of the watches: nothing else is ever read (SPEC W1). */
  readonly labelSelector: string;
  /** Ends the waiting between attempts. */
  readonly signal: AbortSignal;
}

/** How to go on after a failure that may pass. */
export interface Patience {
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
}

const BACKOFF = { baseMs: 500, capMs: 30_000, jitter: 0.5 };
/** Failures of a server that is reachable: it may answer next time. */
const PASSING_CODES = new Set([
  'TIMEOUT',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'ETIMEDOUT',
]);

/**
 * Lists one ConfigMap of each scope that is watched, before anything is started: what retrying cannot fix is reported now, in
 * one sentence. Everything else is retried, and logged, until `signal` aborts; without `patience` nothing is (SPEC W3).
 * @throws RunError
 */
export async function firstContact(contact: FirstContact, patience?: Patience): Promise<void> {
  for (let failures = 1; !contact.signal.aborted; failures += 1) {
    try {
      return await listOne(contact);
    } catch (error) {
      if (patience === undefined || !mayPass(error)) throw new RunError(explain(error, contact));
      const { clock, random, log } = patience;
      const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      const retryInMs = Math.round(Math.max(asked, backoffDelay(failures, BACKOFF, random)));
      log.warn({ error: explain(error, contact), retryInMs }, 'the API server is not ready; retrying');
      await sleep(clock, retryInMs, contact.signal);
    }
  }
}

async function listOne({ transport, namespaces, labelSelector, signal }: FirstContact): Promise<void> {
  const paths = namespaces
    ? [...namespaces].map((name) => `/api/v1/namespaces/${name}/configmaps`)
    : ['/api/v1/configmaps'];
  const query = new URLSearchParams({ limit: '1', labelSelector });
  for (const path of paths) await transport.call({ method: 'GET', path: `${path}?${query}`, signal });
}

function mayPass(error: unknown): boolean {
  if (error instanceof NetworkError) return PASSING_CODES.has(error.code);
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

function explain(error: unknown, { cluster, namespaces }: FirstContact): string {
  const context = cluster.context === undefined ? '' : ` (context "${cluster.context}")`;
  const where = `the API server at ${cluster.server}${context}`;
  if (error instanceof NetworkError) {
    // No request was sent: the sentence is about the credential, or the proxy, alone.
    if (error.code === 'CREDENTIALS' || error.code === 'PROXY') return error.message;
    return `cannot reach ${where}: ${error.message}; check that the cluster is up and that this is the right one`;
  }
  if (isUnauthorized(error)) {
    return `${where} does not know who we are (401): the credential of ${cluster.user?.name ?? 'the context'} is missing, wrong or expired; renew it, or choose another --context`;
  }
  if (isForbidden(error)) {
    const fix =
      namespaces === undefined
        ? 'apply manifests/rbac.yaml, or limit the controller with --namespaces to those it may read'
        : 'grant the verbs of manifests/rbac.yaml in each of the --namespaces';
    return `${where} forbids us to read ConfigMaps (403): ${error.message}; ${fix}`;
  }
  if (error instanceof ApiError)
    return `${where} answered ${error.status}: ${error.message}; check its health`;
  throw error;
}
