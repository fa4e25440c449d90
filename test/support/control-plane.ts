/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver and, when there is a binary of
 * it, kube-controller-manager with the controllers that clean up. No nodes, no scheduler. It is up
 * in seconds, and ends with the process that started it, however that ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { ControlPlaneBinaries } from './control-plane-binaries.ts';
import { compactEtcd } from './control-plane-etcd.ts';
import { type ControlPlaneFiles, writeControlPlaneFiles } from './control-plane-files.ts';
import { type ServerProcess, startServerProcess } from './control-plane-process.ts';
import { freePorts } from './free-ports.ts';
import type { CertificateAuthority } from './tls.ts';

/**
 * Where a control plane is, and what a test may know of it; plain data, so that it can be handed to
 * another process.
 */
export interface ControlPlaneAddress {
  readonly url: string;
  /** What its clients have to trust, PEM. */
  readonly ca: string;
  /** Bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  /** A kubeconfig of that administrator. */
  readonly kubeconfigPath: string;
  /** One JSON object a line; see {@link file://./control-plane-audit.ts}. */
  readonly auditLogPath: string;
  readonly etcdUrl: string;
  /** Whether garbage is collected and deleted namespaces go away. */
  readonly hasControllerManager: boolean;
}

export interface ControlPlane extends ControlPlaneAddress, AsyncDisposable {
  /** The authority behind `ca`: a client certificate from it is a user. */
  readonly authority: CertificateAuthority;
  /** The apiserver dies at once: connections are reset, nothing listens. */
  killApiServer(): Promise<void>;
  /**
   * Starts it again on the same port and the same etcd, with `flags` in place of the earlier
   * `apiServerFlags`. Kills it first when it runs.
   */
  restartApiServer(flags?: readonly string[]): Promise<void>;
  /** It keeps its connections and answers nothing until `resumeApiServer`. */
  pauseApiServer(): void;
  resumeApiServer(): void;
  /** The apiserver answers reads from its cache alone until `resumeEtcd`. Writes wait, or fail. */
  pauseEtcd(): void;
  resumeEtcd(): void;
  /** Forgets the history up to now, as etcd's compaction every five minutes does. */
  compactEtcd(): Promise<void>;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly binaries: ControlPlaneBinaries;
  /**
   * Added to the apiserver's, and so stronger, e.g. `--feature-gates=WatchList=false`. Default
   * none.
   */
  readonly apiServerFlags?: readonly string[];
}

/** How long a server may take until it answers. It needs 3 s; a busy machine needs more. */
const START_DEADLINE_MS = 120_000;
const POLL_MS = 25;

/** Rejects with the end of the log of the server that did not come up. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { binaries } = options;
  const folder = mkdtempSync(join(tmpdir(), 'control-plane-'));
  const [etcdPort, port] = await freePorts(2);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const url = `https://127.0.0.1:${port}`;
  const files = await writeControlPlaneFiles(folder, url);
  const launch = (binary: string, name: string, flags: readonly string[]) =>
    startServerProcess(binary, flags, files.path(`${name}.log`));
  const launchApiServer = (flags: readonly string[]) =>
    launch(binaries.apiServer, 'kube-apiserver', [...apiServerFlags(files, { etcdUrl, port }), ...flags]);
  const isApiServerReady = () => isServingDefaultNamespace(url, files);

  const etcd = launch(binaries.etcd, 'etcd', etcdFlags(files, etcdUrl));
  let apiServer = launchApiServer(options.apiServerFlags ?? []);
  let controllerManager: ServerProcess | undefined;
  const stop = async () => {
    await Promise.all([controllerManager?.kill(), apiServer.kill(), etcd.kill()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady('kube-apiserver', [apiServer, etcd], isApiServerReady);
    if (binaries.controllerManager !== undefined) {
      controllerManager = launch(binaries.controllerManager, 'controller-manager', controllerFlags(files));
    }
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url,
    ca: files.authority.cert,
    adminToken: files.adminToken,
    kubeconfigPath: files.kubeconfigPath,
    auditLogPath: files.auditLogPath,
    etcdUrl,
    hasControllerManager: controllerManager !== undefined,
    authority: files.authority,
    killApiServer: () => apiServer.kill(),
    restartApiServer: async (flags = options.apiServerFlags ?? []) => {
      await apiServer.kill();
      apiServer = launchApiServer(flags);
      await untilReady('kube-apiserver', [apiServer, etcd], isApiServerReady);
    },
    pauseApiServer: () => apiServer.signal('STOP'),
    resumeApiServer: () => apiServer.signal('CONT'),
    pauseEtcd: () => etcd.signal('STOP'),
    resumeEtcd: () => etcd.signal('CONT'),
    compactEtcd: () => compactEtcd(etcdUrl),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function etcdFlags(files: ControlPlaneFiles, url: string): readonly string[] {
  return [
    `--data-dir=${files.path('etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    // It has no peers; without this it takes the port that every etcd takes.
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=warn',
    '--unsafe-no-fsync',
  ];
}

function apiServerFlags(
  files: ControlPlaneFiles,
  { etcdUrl, port }: { readonly etcdUrl: string; readonly port: number | undefined },
): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=127.0.0.1`,
    `--secure-port=${port}`,
    `--cert-dir=${files.path('certificates')}`,
    `--tls-cert-file=${files.path('serving.crt')}`,
    `--tls-private-key-file=${files.path('serving.key')}`,
    `--client-ca-file=${files.path('ca.crt')}`,
    `--token-auth-file=${files.path('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.path('service-account.pub')}`,
    `--service-account-signing-key-file=${files.path('service-account.key')}`,
    // It admits Pods only, of which there are none, and would delay every start by waiting for its
    // informers.
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.0.0.0/24',
    // An address of its own to announce in Endpoints is not to be found on loopback.
    '--endpoint-reconciler-type=none',
    `--audit-policy-file=${files.path('audit-policy.json')}`,
    `--audit-log-path=${files.auditLogPath}`,
    // Without waiting for a batch: a test reads the log right after the call.
    '--audit-log-mode=blocking',
  ];
}

function controllerFlags(files: ControlPlaneFiles): readonly string[] {
  return [
    `--kubeconfig=${files.kubeconfigPath}`,
    '--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller',
    '--leader-elect=false',
    '--secure-port=0',
    // Its own brake of 20 requests a second makes the deletion of a namespace a matter of many
    // seconds.
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
}

/** The apiserver creates the namespace `default` last of all that a client may count on. */
async function isServingDefaultNamespace(url: string, files: ControlPlaneFiles): Promise<boolean> {
  const dispatcher = new Agent({ connect: { ca: files.authority.cert } });
  const headers = { authorization: `Bearer ${files.adminToken}` };
  try {
    for (const path of ['/readyz', '/api/v1/namespaces/default']) {
      const { statusCode, body } = await request(`${url}${path}`, { dispatcher, headers });
      await body.dump();
      if (statusCode !== 200) return false;
    }
    return true;
  } catch {
    return false;
  } finally {
    await dispatcher.destroy();
  }
}

async function untilReady(
  name: string,
  servers: readonly ServerProcess[],
  isReady: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (!(await isReady())) {
    const ended = servers.find((server) => !server.isRunning());
    if (ended !== undefined) throw new Error(`a server of the control plane ended: ${ended.logTail()}`);
    if (performance.now() > deadline) {
      const tails = servers.map((server) => server.logTail()).join('\n');
      throw new Error(`${name} did not come up within ${START_DEADLINE_MS / 1000} s: ${tails}`);
    }
    await delay(POLL_MS);
  }
}
