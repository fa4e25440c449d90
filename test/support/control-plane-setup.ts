/** Vitest's global setup of the suite `control-plane`: one control plane for the whole run. */
import process from 'node:process';
import type { TestProject } from 'vitest/node';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { type BuildEnvironment, findBinaries, NoControlPlaneError } from './control-plane-binaries.ts';
import type { ControlPlaneContext } from './control-plane-context.ts';

interface SetupEnvironment extends BuildEnvironment {
  /** `1`: what would be skipped for want of a control plane is a failure. */
  readonly REQUIRE_CONTROL_PLANE?: string;
  /** Path of a kubeconfig: use its current context, and start nothing. */
  readonly TEST_KUBECONFIG?: string;
}

/** Resolves to the teardown. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const env: SetupEnvironment = process.env;
  const { context, stop } = await contextOf(env);
  if (env.REQUIRE_CONTROL_PLANE === '1' && context.missing.length > 0) {
    await stop();
    throw new Error(`REQUIRE_CONTROL_PLANE=1, but ${context.missing.join('; ')}`);
  }
  project.provide('controlPlane', context);
  return stop;
}

interface Prepared {
  readonly context: ControlPlaneContext;
  stop(): Promise<void>;
}

async function contextOf(env: SetupEnvironment): Promise<Prepared> {
  if (env.TEST_KUBECONFIG) {
    return withoutServers({
      cluster: { kubeconfigPath: env.TEST_KUBECONFIG, hasControllerManager: true },
      missing: ['tests that need a control plane of their own cannot use the cluster of TEST_KUBECONFIG'],
    });
  }
  try {
    const binaries = await findBinaries({
      env,
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    const controlPlane = await startControlPlane({ binaries });
    return { context: contextOfOwn(controlPlane, binaries), stop: controlPlane.stop };
  } catch (error) {
    if (error instanceof NoControlPlaneError) return withoutServers({ missing: [error.message] });
    throw error;
  }
}

function withoutServers(context: ControlPlaneContext): Prepared {
  return { context, stop: () => Promise.resolve() };
}

function contextOfOwn(
  controlPlane: ControlPlane,
  binaries: NonNullable<ControlPlaneContext['binaries']>,
): ControlPlaneContext {
  const { url, ca, adminToken, kubeconfigPath, auditLogPath, etcdUrl, hasControllerManager } = controlPlane;
  return {
    binaries,
    cluster: {
      kubeconfigPath,
      hasControllerManager,
      controlPlane: { url, ca, adminToken, kubeconfigPath, auditLogPath, etcdUrl, hasControllerManager },
    },
    missing: hasControllerManager
      ? []
      : [
          'KUBEBUILDER_ASSETS has no kube-controller-manager, so nothing collects garbage or empties namespaces',
        ],
  };
}
