import type { Cluster } from '../../../src/kube/config/cluster.ts';
import type { ClusterAccess } from '../cluster-access.ts';

/**
 * An API server under test: our sandbox, or a real kube-apiserver. What is no method is known while
 * tests are collected.
 */
export interface TestServer {
  readonly name: 'sandbox' | 'control plane';
  /** Whether it collects garbage and removes deleted namespaces. */
  readonly collectsGarbage: boolean;
  /** Whether {@link openOwn} works. */
  readonly canOpenOwn: boolean;
  /** A place that no other test sees or disturbs; the server may be shared. */
  open(): Promise<Place>;
  /** A place on a server that no other test uses. A real one takes 3 s. */
  openOwn(): Promise<OwnPlace>;
}

export interface Place extends AsyncDisposable {
  /** How an administrator reaches the server. */
  readonly cluster: Cluster;
  /** How the controllers of a test reach it, if not as that administrator. */
  readonly controllerCluster?: Cluster;
  /** The same for clients that are not the controller's. */
  readonly access: ClusterAccess;
  /** The same for programs. */
  readonly kubeconfigPath: string;
  /** For `--domain`. The labels and annotations of other tests have other domains. */
  readonly domain: string;
  /** All namespaces of this place begin with it. */
  readonly prefix: string;
  /** Writes of ConfigMaps in this place that the server has answered so far, whoever made them. */
  countWrites(): Promise<number>;
}

export interface OwnPlace extends Place {
  /** Forgets all earlier resourceVersions and continue tokens, as a compaction of etcd does. */
  forgetHistory(): Promise<void>;
  /** Restarts at the same address without ConfigMaps, and with a shorter history. */
  startOver(): Promise<void>;
}

export const WRITE_VERBS: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection'];
