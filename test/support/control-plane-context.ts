import type { ControlPlaneAddress } from './control-plane.ts';
import type { ControlPlaneBinaries } from './control-plane-binaries.ts';

/** The cluster that all tests of a run share. Each of them works in namespaces of its own. */
export interface SharedCluster {
  readonly kubeconfigPath: string;
  /** Whether garbage is collected and deleted namespaces go away. */
  readonly hasControllerManager: boolean;
  /**
   * What we may do to it behind its back; absent for a cluster given with `TEST_KUBECONFIG`, which
   * is not ours.
   */
  readonly controlPlane?: ControlPlaneAddress;
}

/**
 * What the tests of the suite `control-plane` have to work with. Plain data: it is handed to their
 * processes.
 */
export interface ControlPlaneContext {
  readonly cluster?: SharedCluster;
  /** For a control plane of a test's own; absent with `TEST_KUBECONFIG`. */
  readonly binaries?: ControlPlaneBinaries;
  /** What is skipped and why, one sentence each; empty when nothing is. */
  readonly missing: readonly string[];
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly controlPlane: ControlPlaneContext;
  }
}
