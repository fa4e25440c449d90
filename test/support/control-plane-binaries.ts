import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

export interface BuildEnvironment extends NodeJS.ProcessEnv {
  readonly KUBEBUILDER_ASSETS?: string;
  readonly XDG_CACHE_HOME?: string;
}

export interface BinariesOptions {
  readonly env: BuildEnvironment;
  /** Told, in one line, of a build that takes minutes. */
  readonly onProgress: (line: string) => void;
}

/** The Go module that pins the servers: the only place where the Kubernetes version is written. */
const GO_MODULE = fileURLToPath(new URL('../control-plane/', import.meta.url));
const run = promisify(execFile);

/** The version that `test/control-plane/go.mod` asks for, as `v1.36.3`. */
export function kubernetesVersion(): string {
  const version = /^\s*k8s\.io\/kubernetes (v\d+\.\d+\.\d+)/m.exec(readModuleFile('go.mod'))?.[1];
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
  const folder = join(cacheFolder(options.env), `${version}-${moduleHash()}`);
  if (!existsSync(folder)) await build(version, folder, options);
  return {
    // What Go calls etcd's binary: the last element of its module path that is no version.
    etcd: join(folder, 'server'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: join(folder, 'kube-controller-manager'),
  };
}

/**
 * In the user's cache and not in the checkout, so that a clean checkout does not build for minutes.
 */
function cacheFolder(env: BuildEnvironment): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mirror-controller', 'control-plane');
}

function moduleHash(): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readModuleFile(name));
  return hash.digest('hex').slice(0, 12);
}

function readModuleFile(name: string): string {
  return readFileSync(join(GO_MODULE, name), 'utf8');
}

async function build(version: string, folder: string, { env, onProgress }: BinariesOptions): Promise<void> {
  await run('go', ['version'], { env }).catch(() => {
    throw new NoControlPlaneError(
      'there is no Go to build kube-apiserver with, and KUBEBUILDER_ASSETS is not set: install Go, or set it to the folder of setup-envtest',
    );
  });
  onProgress(`building kube-apiserver ${version}, once: about 5 minutes on 2 cores`);
  mkdirSync(dirname(folder), { recursive: true });
  // Built beside its place and moved there whole: a build that was interrupted, or a second one,
  // leaves nothing half done.
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    await goBuild(version, unfinished, env);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function goBuild(version: string, folder: string, env: BuildEnvironment): Promise<void> {
  const [major, minor] = version.slice(1).split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const flags = Object.entries(stamp).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  const goFlags = ['build', '-ldflags', ['-s', '-w', ...flags].join(' '), '-o', folder, 'tool'];
  // Whatever the user's own Go work asks for (a workspace, vendoring) is not for this module.
  const goEnv = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  await run('go', goFlags, { cwd: GO_MODULE, env: goEnv, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: unknown) => {
      const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
      throw new NoControlPlaneError(`kube-apiserver could not be built with Go (${said})`);
    },
  );
}
