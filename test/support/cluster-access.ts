import { KubeConfig } from '@kubernetes/client-node';

/** Where a cluster is and how to be let in, as Node's own HTTP functions want it. */
export interface ClusterAccess {
  /** `https://host:port` or, for the sandbox, `http://host:port`; no trailing slash. */
  readonly url: string;
  /** PEM; what is absent is not needed. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized?: boolean;
  };
  /** `authorization`, when a token says who we are. */
  readonly headers: { readonly authorization?: string };
}

/**
 * The access that the current context of a kubeconfig gives, exec plugins included. It is the
 * client library that reads the file, not our own code: a test must not share a misunderstanding
 * with what it tests.
 */
export async function clusterAccess(kubeconfigPath: string): Promise<ClusterAccess> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${kubeconfigPath} has no current context`);
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {};
  await config.applyToHTTPSOptions(options);
  const authorization = new Headers(options.headers as Record<string, string>).get('authorization');
  const text = (value: unknown) => (value === undefined ? undefined : String(value));
  const tls = { ca: text(options.ca), cert: text(options.cert), key: text(options.key) };
  return {
    url: cluster.server.replace(/\/$/, ''),
    tls: {
      ...Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
      ...(cluster.skipTLSVerify ? { rejectUnauthorized: false } : {}),
    },
    headers: authorization === null ? {} : { authorization },
  };
}
