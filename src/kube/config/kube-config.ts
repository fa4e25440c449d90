import { existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Cluster as LibraryCluster } from '@kubernetes/client-node';
import { KubeConfigError } from '../errors.ts';
import { checkCluster } from './check-cluster.ts';
import type { Cluster, ClusterTls } from './cluster.ts';
import { type KubeConfigFile, mergeKubeConfigs, readKubeConfig } from './kube-config-file.ts';
import { textSourceOf, userOf } from './kube-config-user.ts';
import { type PodEnvironment, podCluster } from './pod-cluster.ts';

export interface KubeConfigEnvironment extends PodEnvironment {
  /** Paths, separated as in `PATH`. */
  readonly KUBECONFIG?: string | undefined;
  readonly HOME?: string | undefined;
  /** The home folder on Windows. */
  readonly USERPROFILE?: string | undefined;
}

export interface KubeConfigOptions {
  /** `--kubeconfig`: this file and no other. */
  readonly kubeconfig?: string | undefined;
  /** `--context`; default the kubeconfig's current one. A Pod's own configuration has none. */
  readonly context?: string | undefined;
  readonly env: KubeConfigEnvironment;
  /** Folder of the Pod's service account; default where kubelet mounts it. */
  readonly serviceAccountDir?: string;
}

/**
 * The cluster to work with: from `--kubeconfig`, else `KUBECONFIG`, else the Pod that this process
 * runs in, else `~/.kube/config`. Checks it and the files that it names. Throws `KubeConfigError`.
 */
export function loadCluster(options: KubeConfigOptions): Cluster {
  const { kubeconfig, context, env } = options;
  const asksForFile = kubeconfig !== undefined || context !== undefined || Boolean(env.KUBECONFIG);
  const pod = asksForFile ? undefined : podCluster(env, options.serviceAccountDir);
  const cluster = pod ?? clusterOfContext(readFiles(options), context);
  checkCluster(cluster);
  return cluster;
}

/** What `--context` may say. Throws `KubeConfigError`. */
export function contextNames(options: Pick<KubeConfigOptions, 'kubeconfig' | 'env'>): readonly string[] {
  return readFiles(options).contexts.map(({ name }) => name);
}

function readFiles({ kubeconfig, env }: Pick<KubeConfigOptions, 'kubeconfig' | 'env'>): KubeConfigFile {
  if (kubeconfig !== undefined) return readKubeConfig(kubeconfig);
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length === 1) return readKubeConfig(String(listed[0]));
  if (listed.length > 1) {
    // As kubectl does, files of a list that do not exist or are empty are skipped.
    const existing = listed.filter((path) => existsSync(path) && !isEmptyFile(path));
    if (existing.length > 0) return mergeKubeConfigs(existing.map(readKubeConfig));
    throw new KubeConfigError(`the files in KUBECONFIG are missing or empty: ${listed.join(', ')}`);
  }
  const standard = join(env.HOME ?? env.USERPROFILE ?? '', '.kube', 'config');
  if (existsSync(standard)) return readKubeConfig(standard);
  // kubelet sets the variable in every container; the token may not be mounted.
  const pod = env.KUBERNETES_SERVICE_HOST
    ? 'this Pod has no service account token (check automountServiceAccountToken)'
    : 'this is not a Pod';
  throw new KubeConfigError(
    `no cluster to work with: KUBECONFIG is not set, ${pod}, and ${standard} does not exist: use --kubeconfig FILE`,
  );
}

/** `/dev/null` is. The size of a pipe is 0, too. */
function isEmptyFile(path: string): boolean {
  const stats = statSync(path);
  return stats.size === 0 && !stats.isFIFO();
}

function clusterOfContext(file: KubeConfigFile, asked: string | undefined): Cluster {
  const name = asked ?? file.currentContext;
  const known = file.contexts.map((context) => context.name).join(', ');
  const choice = known === '' ? 'it has no contexts' : `it has ${known}`;
  if (name === undefined) {
    throw new KubeConfigError(
      `kubeconfig ${file.where} has no current context: choose one with --context (${choice})`,
    );
  }
  const context = file.contexts.find((candidate) => candidate.name === name);
  if (context === undefined) {
    throw new KubeConfigError(
      `kubeconfig ${file.where} has no context "${name}" (${choice}): check --context`,
    );
  }
  const cluster = file.clusters.find((candidate) => candidate.name === context.cluster);
  if (cluster === undefined) {
    throw new KubeConfigError(
      `context "${name}" uses the cluster "${context.cluster}", but ${file.where} has no server for it`,
    );
  }
  const user = file.users.find((candidate) => candidate.name === context.user);
  if (context.user !== undefined && user === undefined) {
    throw new KubeConfigError(
      `context "${name}" uses the user "${context.user}", but ${file.where} has no such user`,
    );
  }
  return {
    server: cluster.server.replace(/\/+$/, ''),
    context: name,
    ...(context.namespace !== undefined && { namespace: context.namespace }),
    ...(cluster.proxyUrl && { proxyUrl: cluster.proxyUrl }),
    tls: tlsOf(cluster),
    ...(user && { user: userOf(user, cluster) }),
  };
}

function tlsOf({ caFile, caData, skipTLSVerify, tlsServerName }: LibraryCluster): ClusterTls {
  const ca = textSourceOf(caFile, caData);
  return {
    ...(ca && { ca }),
    ...(skipTLSVerify && { skipVerify: true }),
    ...(tlsServerName && { serverName: tlsServerName }),
  };
}
