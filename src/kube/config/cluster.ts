import type { User } from '@kubernetes/client-node';

/** Where a token or PEM text is: in place, or in a file that somebody may rotate. */
export type TextSource =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

/** How to check that the server is the right one. */
export interface ClusterTls {
  /** The certificate authorities to trust, PEM; absent: those that Node trusts. */
  readonly ca?: TextSource;
  /** `insecure-skip-tls-verify`. */
  readonly skipVerify?: boolean;
  /** `tls-server-name`: the name that the certificate must hold if it is not the server's host. */
  readonly serverName?: string;
}

/** Who we ask the server to treat us as: `as`, `as-uid`, `as-groups`, `as-user-extra`. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * All that a kubeconfig says to prove who we are. As in client-go, the first one present of token,
 * basic and plugin is used.
 */
export interface ClusterUser {
  readonly name: string;
  readonly token?: TextSource;
  readonly basic?: { readonly username: string; readonly password: string };
  /** An exec plugin or an auth provider (OIDC, …). The client library runs them. */
  readonly plugin?: User;
  readonly clientCertificate?: { readonly cert: TextSource; readonly key: TextSource };
  readonly impersonate?: Impersonation;
}

/** One API server and how to log in to it. A value: it opens and reads nothing. */
export interface Cluster {
  /** `https://host:port` without a trailing slash; has a path if a proxy serves many clusters. */
  readonly server: string;
  /** The kubeconfig's context, for messages; absent for an in-cluster configuration. */
  readonly context?: string;
  /** The context's namespace, or the Pod's. */
  readonly namespace?: string;
  /** An `http://` or `https://` proxy that tunnels to the server. */
  readonly proxyUrl?: string;
  readonly tls?: ClusterTls;
  readonly user?: ClusterUser;
}
