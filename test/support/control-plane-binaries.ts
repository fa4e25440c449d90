import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtTools, NoToolsError, type ToolsEnvironment } from './go-tools.ts';

/** Paths of the servers' executables. */
export interface ControlPlaneBinaries {
  readonly etcd: string;
  readonly apiServer: string;
  /** Absent in envtest's folder: no garbage collection, no namespace deletion. */
  readonly controllerManager?: string;
}

/**
 * There are no binaries and none can be built. `message` is one sentence that says why and what
 * mends it.
 */
export class NoControlPlaneError extends Error {
  override readonly name = 'NoControlPlaneError';
}

export interface BuildEnvironment extends ToolsEnvironment {
  readonly KUBEBUILDER_ASSETS?: string;
}

export interface BinariesOptions {
  readonly env: BuildEnvironment;
  /** Told, in one line, of a build that takes minutes. */
  readonly onProgress: (line: string) => void;
}

/** The Go module that pins the servers: the only place where the Kubernetes version is written. */
const GO_MODULE = fileURLToPath(new URL('../control-plane/', import.meta.url));

/** The version that `test/control-plane/go.mod` asks for, as `v1.36.3`. */
export function kubernetesVersion(): string {
  const version = /^\s*k8s\.io\/kubernetes (v\d+\.\d+\.\d+)/m.exec(
    readFileSync(join(GO_MODULE, 'go.mod'), 'utf8'),
  )?.[1];
  if (version === undefined)
    throw new Error('test/control-plane/go.mod requires no version of k8s.io/kubernetes');
  return version;
}

/**
 * The servers of `KUBEBUILDER_ASSETS` when that is set, else our own, built with Go when they are
 * not in the user's cache yet. Throws `NoControlPlaneError`.
 */
export async function findBinaries(options: BinariesOptions): Promise<ControlPlaneBinaries> {
  const assets = options.env.KUBEBUILDER_ASSETS;
  return assets ? binariesOfAssets(assets) : binariesOfCache(options);
}

function binariesOfAssets(folder: string): ControlPlaneBinaries {
  const [etcd, apiServer, controllerManager] = ['etcd', 'kube-apiserver', 'kube-controller-manager'].map(
    (name) => join(folder, name),
  ) as [string, string, string];
  const missing = [etcd, apiServer].filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new NoControlPlaneError(`KUBEBUILDER_ASSETS is set, but there is no ${missing.join(' and no ')}`);
  return { etcd, apiServer, ...(existsSync(controllerManager) ? { controllerManager } : {}) };
}

async function binariesOfCache(options: BinariesOptions): Promise<ControlPlaneBinaries> {
  const version = kubernetesVersion();
  const [major, minor] = version.slice(1).split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const folder = await builtTools({
    ...options,
    module: GO_MODULE,
    name: `kube-apiserver ${version}`,
    cache: `control-plane/${version}`,
    linkerFlags: Object.entries(stamp).map(
      ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
    ),
  }).catch((error: unknown) => {
    if (!(error instanceof NoToolsError)) throw error;
    throw new NoControlPlaneError(
      `${error.message}, and KUBEBUILDER_ASSETS is not set: install Go, or set it to the folder of setup-envtest`,
    );
  });
  return {
    // What Go calls etcd's binary: the last element of its module path that is no version.
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
  };
}
