import type { Cluster } from '../../src/kube/config/cluster.ts';
import type { ClusterAccess } from '../support/cluster-access.ts';

/** An API server under test: our sandbox, or a real kube-apiserver. */
export interface TestServer {
  readonly name: 'sandbox' | 'control plane';
  /** A place on it that no other test sees or disturbs. */
  open(): Promise<Place>;
}

export interface Place extends AsyncDisposable {
  /** How an administrator reaches the server. */
  readonly cluster: Cluster;
  /** The same for a proxy in between. */
  readonly access: ClusterAccess;
  /** The same as the text of a kubeconfig. */
  readonly kubeconfig: string;
  /** For `--domain`: what other tests label and annotate is nothing to this one. */
  readonly domain: string;
  /** What the names of all namespaces of this place begin with. */
  readonly prefix: string;
  /** Writes of ConfigMaps in this place that the server has answered so far, whoever made them. */
  countWrites(): Promise<number>;
}

export const WRITE_VERBS: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];
