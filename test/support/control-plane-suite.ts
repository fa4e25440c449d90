/**
 * What a `*.control-plane.test.ts` file begins with: the run's cluster, and whether it is there at
 * all.
 */
import { inject } from 'vitest';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
import type { SharedCluster } from './control-plane-context.ts';

/**
 * The conditions of `describe.skipIf(...)`, known while tests are collected. Vitest runs the body
 * of a skipped `describe` too, so take the cluster inside of tests and hooks.
 */
export const lacks = {
  cluster: () => inject('controlPlane').cluster === undefined,
  /** Garbage collection, and namespaces that go away once deleted. */
  controllerManager: () => inject('controlPlane').cluster?.hasControllerManager !== true,
  /** A shared cluster whose etcd and audit log are at hand. */
  sharedControlPlane: () => inject('controlPlane').cluster?.controlPlane === undefined,
  /** What {@link startOwnControlPlane} needs. */
  ownControlPlane: () => inject('controlPlane').binaries === undefined,
} as const;

/** The cluster that all tests of the run share: work in a namespace of your own. */
export function sharedCluster(): SharedCluster {
  const { cluster, missing } = inject('controlPlane');
  if (cluster === undefined) throw new Error(`no control plane: ${missing.join('; ')}`);
  return cluster;
}

/** For a test that kills, restarts or reconfigures its servers; 3 s each. */
export function startOwnControlPlane(
  options: Omit<ControlPlaneOptions, 'binaries'> = {},
): Promise<ControlPlane> {
  const { binaries, missing } = inject('controlPlane');
  if (binaries === undefined) throw new Error(`no control plane of its own: ${missing.join('; ')}`);
  return startControlPlane({ ...options, binaries });
}
