import { backoffDelay } from '../../clock/backoff.ts';
import { type Clock, sleep } from '../../clock/clock.ts';
import type { Watches } from '../../controller/informers.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { ApiError, isForbidden, isUnauthorized, NetworkError } from '../../kube/errors.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { RunError } from '../errors.ts';

export interface FirstContact {
  readonly cluster: Cluster;
  /** What the controller will watch, so that nothing else is read (SPEC W1). */
  readonly configMaps: Watches['configMaps'];
  /** Those of `--namespaces`; undefined: all. */
  readonly namespaces: Watches['namespaces'] | undefined;
  /** What to do about a 403. */
  readonly ifForbidden: string;
  /** Whether failures that may pass are retried. */
  readonly retry: boolean;
  readonly clock: Clock;
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const BACKOFF = { baseMs: 500, capMs: 30_000, jitter: 0.5 };
const NOT_READY = 'the API server is not ready; retrying';
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
 * Lists one object of each scope that is watched, before anything else starts. What retrying cannot
 * fix ends the program; the rest is logged and retried until `signal` aborts (SPEC W3).
 * @throws RunError
 */
export async function firstContact(contact: FirstContact): Promise<void> {
  const { cluster, ifForbidden, retry, clock, random, log, signal } = contact;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      await readEach(contact);
      if (failures > 1) log.info({ was: NOT_READY }, 'resolved');
      return;
    } catch (error) {
      const lines = explain(error, cluster, ifForbidden);
      if (!retry || !mayPass(error, failures)) throw new RunError(lines.join('\n'));
      const { retryAfterMs = 0 } = error as Partial<ApiError>;
      const retryInMs = Math.max(retryAfterMs, backoffDelay(failures, BACKOFF, random));
      log.warn({ error: lines[0], retryInMs }, NOT_READY);
      await sleep(clock, retryInMs, signal);
    }
  }
}

/**
 * A namespace that refuses must not stop the mirroring of others: otherwise whoever may delete its
 * Role could end the program. The informer retries it.
 */
async function readEach({ configMaps, namespaces, retry, log, signal }: FirstContact): Promise<void> {
  const missing: string[] = [];
  let refusals = 0;
  for (const listWatch of configMaps.values()) {
    try {
      await listWatch.list({ limit: 1 }, signal);
    } catch (error) {
      refusals += 1;
      if (!retry || !isForbidden(error) || refusals === configMaps.size) throw error;
    }
  }
  for (const [name, listWatch] of namespaces ?? []) {
    const { items } = await listWatch.list({ limit: 1 }, signal);
    if (items.length === 0) missing.push(name);
  }
  for (const namespace of missing)
    log.warn({ namespace }, 'the namespace does not exist; check --namespaces');
}

/** A refused connection may be a wrong address; after another failure, the server restarts. */
function mayPass(error: unknown, failures: number): boolean {
  if (error instanceof NetworkError) {
    return PASSING_CODES.has(error.code) || (failures > 1 && error.code === 'ECONNREFUSED');
  }
  return error instanceof ApiError && (error.status === 429 || error.status >= 500);
}

/**
 * What is wrong, and how to fix it. Two lines, because the first may end in a question.
 * Throws the error again when it is not the server's or the network's.
 */
export function explain(error: unknown, cluster: Cluster, ifForbidden: string): readonly string[] {
  const context = cluster.context === undefined ? '' : ` (context "${cluster.context}")`;
  const where = `the API server at ${cluster.server}${context}`;
  if (error instanceof NetworkError) {
    // No request was sent: the message is about the credential, or the proxy, alone.
    if (error.code === 'CREDENTIALS' || error.code === 'PROXY') return [error.message];
    const fix = 'Check that the cluster is up, and that --context is the right one.';
    return [`cannot reach ${where}: ${error.message}`, fix];
  }
  if (isUnauthorized(error)) {
    const user = cluster.user?.name ?? 'the context';
    const fix = `The credential of ${user} is missing, wrong or expired: renew it, or choose another --context.`;
    return [`${where} does not accept our credential (401)`, fix];
  }
  if (isForbidden(error)) return [`${where} does not allow this (403): ${error.message}`, ifForbidden];
  if (error instanceof ApiError) {
    return [`${where} answered ${error.status}: ${error.message}`, 'Check that it is a healthy API server.'];
  }
  throw error;
}
