import type { Cluster as LibraryCluster, User as LibraryUser } from '@kubernetes/client-node';
import { KubeConfigError } from '../errors.ts';
import { readText } from './check-cluster.ts';
import type { ClusterUser, Impersonation, TextSource } from './cluster.ts';
import type { KubeConfigUser } from './kube-config-file.ts';

/** Inline data takes precedence over a file, as in client-go. */
export function textSourceOf(path: string | undefined, base64: string | undefined): TextSource | undefined {
  if (base64) return { kind: 'inline', text: Buffer.from(base64, 'base64').toString() };
  return path ? { kind: 'file', path } : undefined;
}

/**
 * The user of a kubeconfig. `cluster` is passed on to an exec plugin that asks for it. Throws
 * `KubeConfigError`.
 */
export function userOf(user: KubeConfigUser, cluster: LibraryCluster): ClusterUser {
  const cert = textSourceOf(user.certFile, user.certData);
  const key = textSourceOf(user.keyFile, user.keyData);
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'client-certificate' : 'client-key';
    throw new KubeConfigError(
      `user "${user.name}" has only half of a client certificate: add its ${missing}`,
    );
  }
  if (!user.impersonateUser && (user['as-uid'] || user['as-groups'] || user['as-user-extra'])) {
    // As kubectl does. Ignoring them would mean to act with rights that the user gave up.
    throw new KubeConfigError(
      `user "${user.name}" impersonates groups, a uid or extras, but no user: add "as", or remove them`,
    );
  }
  const token = tokenOf(user);
  return {
    name: user.name,
    ...(token && { token }),
    ...(user.username && { basic: { username: user.username, password: user.password ?? '' } }),
    ...((user.exec || user.authProvider) && { plugin: pluginOf(user, cluster) }),
    ...(cert && key && { clientCertificate: { cert, key } }),
    ...(user.impersonateUser && { impersonate: impersonationOf(user, user.impersonateUser) }),
  };
}

/** A token file takes precedence over a token: the file is kept up to date. */
function tokenOf({ tokenFile, token }: KubeConfigUser): TextSource | undefined {
  if (tokenFile) return { kind: 'file', path: tokenFile };
  return token ? { kind: 'inline', text: token } : undefined;
}

function impersonationOf(from: KubeConfigUser, user: string): Impersonation {
  const { 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = from;
  return { user, ...(uid && { uid }), ...(groups && { groups }), ...(extra && { extra }) };
}

/** The user for the client library, with only the parts that it handles. */
function pluginOf({ name, exec, authProvider }: LibraryUser, cluster: LibraryCluster): LibraryUser {
  if (!exec) return { name, authProvider };
  const info = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(execInfoOf(exec, cluster)) };
  return { name, exec: { ...exec, env: [...(exec.env ?? []), info] } };
}

/**
 * What a plugin gets in the variable KUBERNETES_EXEC_INFO; the client library does not set it.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#input-and-output-formats
 */
function execInfoOf(
  exec: { apiVersion?: string; provideClusterInfo?: boolean },
  cluster: LibraryCluster,
): unknown {
  return {
    apiVersion: exec.apiVersion ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo && {
        cluster: {
          server: cluster.server,
          'tls-server-name': cluster.tlsServerName,
          'insecure-skip-tls-verify': cluster.skipTLSVerify,
          'certificate-authority-data': authorityOf(cluster),
          'proxy-url': cluster.proxyUrl,
        },
      }),
    },
  };
}

/** The plugin gets the content of a file, as from client-go. */
function authorityOf({ caFile, caData }: LibraryCluster): string | undefined {
  const ca = textSourceOf(caFile, caData);
  return ca && Buffer.from(readText(ca, 'the certificate authority of the cluster')).toString('base64');
}
