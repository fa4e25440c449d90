import { existsSync, readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Cluster } from './cluster.ts';

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What kubelet sets in every container. */
export interface PodEnvironment {
  readonly KUBERNETES_SERVICE_HOST?: string | undefined;
  readonly KUBERNETES_SERVICE_PORT?: string | undefined;
}

/**
 * The cluster of the Pod that this process runs in, with the Pod's service account; undefined
 * outside a Pod. https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
 */
export function podCluster(
  env: PodEnvironment,
  serviceAccountDir: string = SERVICE_ACCOUNT_DIR,
): Cluster | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenFile = join(serviceAccountDir, 'token');
  if (!host || !port || !existsSync(tokenFile)) return undefined;
  const namespace = podNamespace(serviceAccountDir);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    ...(namespace !== undefined && { namespace }),
    tls: { ca: { kind: 'file', path: join(serviceAccountDir, 'ca.crt') } },
    user: { name: 'the Pod', token: { kind: 'file', path: tokenFile } },
  };
}

/** The namespace of the Pod that this process runs in; undefined outside a Pod. */
export function podNamespace(serviceAccountDir: string = SERVICE_ACCOUNT_DIR): string | undefined {
  const file = join(serviceAccountDir, 'namespace');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
