import type { Cluster } from '../kube/config/cluster.ts';
import { ApiError, isForbidden, isUnauthorized, NetworkError } from '../kube/errors.ts';
import type { Transport } from '../kube/http/transport.ts';
import { RunError } from './errors.ts';

/**
 * Lists one ConfigMap of each scope that is watched, before anything is started: what cannot work is said now, in one sentence
 * with what mends it, rather than retried for ever in the log. Other rights are not looked at.
 * @throws RunError
 */
export async function firstContact(
  transport: Transport,
  cluster: Cluster,
  namespaces: ReadonlySet<string> | undefined,
): Promise<void> {
  const paths = namespaces
    ? [...namespaces].map((name) => `/api/v1/namespaces/${name}/configmaps`)
    : ['/api/v1/configmaps'];
  try {
    for (const path of paths) await transport.call({ method: 'GET', path: `${path}?limit=1` });
  } catch (error) {
    throw new RunError(explain(error, cluster, namespaces));
  }
}

function explain(error: unknown, cluster: Cluster, namespaces: ReadonlySet<string> | undefined): string {
  const context = cluster.context === undefined ? '' : ` (context "${cluster.context}")`;
  const where = `the API server at ${cluster.server}${context}`;
  if (error instanceof NetworkError) {
    // No request was sent: the sentence is about the credential, or the proxy, alone.
    if (error.code === 'CREDENTIALS' || error.code === 'PROXY') return error.message;
    return `cannot reach ${where}: ${error.message}; is the cluster up, and is this the right one?`;
  }
  if (isUnauthorized(error)) {
    return `${where} does not know who we are (401): the credential of ${cluster.user?.name ?? 'the context'} is missing, wrong or expired; renew it, or choose another --context`;
  }
  if (isForbidden(error)) {
    const mend =
      namespaces === undefined
        ? 'apply manifests/rbac.yaml, or limit the controller with --namespaces to those it may read'
        : 'grant the verbs of manifests/rbac.yaml in each of the --namespaces';
    return `${where} forbids us to read ConfigMaps (403): ${error.message}; ${mend}`;
  }
  if (error instanceof ApiError) return `${where} answers ${error.status}: ${error.message}; is it healthy?`;
  throw error;
}
