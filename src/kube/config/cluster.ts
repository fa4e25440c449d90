import type { User } from '@kubernetes/client-node';

/** A token or PEM text: given in place, or in a file that something else may rotate. */
export type Material =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

/** How to know that the server is the right one. */
export interface ClusterTls {
  /** The certificate authorities to trust, PEM; absent: those that Node trusts. */
  readonly ca?: Material;
  /** `insecure-skip-tls-verify`. */
  readonly skipVerify?: boolean;
  /** `tls-server-name`: the name that the certificate must hold, when it is not the server's host. */
  readonly serverName?: string;
}

/** Whom we say we are: `as`, `as-uid`, `as-groups`, `as-user-extra`. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Everything a kubeconfig knows to prove who we are. The first present of token, basic and plugin counts, as in client-go. */
export interface ClusterUser {
  readonly name: string;
  readonly token?: Material;
  readonly basic?: { readonly username: string; readonly password: string };
  /** An exec plugin or an auth provider (OIDC, …): left to the client library, which knows how to run them. */
  readonly plugin?: User;
  readonly clientCertificate?: { readonly cert: Material; readonly key: Material };
  readonly impersonate?: Impersonation;
}

/** One API server and how to be let in. A value: it opens and reads nothing. */
export interface Cluster {
  /** `https://host:port`, perhaps with a path (a proxy for many clusters), without a trailing slash. */
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
