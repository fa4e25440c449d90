import { loadCluster } from '../../../src/kube/config/kube-config.ts';
import { openApiClient } from '../api-client.ts';
import { type ClusterAccess, clusterAccess } from '../cluster-access.ts';
import type { ControlPlaneAddress } from '../control-plane.ts';
import { type AuditedCall, AuditLog } from '../control-plane-audit.ts';
import { lacks, sharedCluster, startOwnControlPlane } from '../control-plane-suite.ts';
import { type OwnPlace, type Place, type TestServer, WRITE_VERBS } from './server.ts';

/**
 * The control plane that all tests of the run share. Each test has namespaces and a domain of its
 * own.
 */
export const controlPlaneServer: TestServer = {
  name: 'control plane',
  get collectsGarbage() {
    return !lacks.controllerManager();
  },
  get canOpenOwn() {
    return !lacks.ownControlPlane();
  },
  open: () => {
    const { kubeconfigPath, controlPlane } = sharedCluster();
    return openPlace({ kubeconfigPath, ...controlPlane });
  },
  openOwn,
};

/** A control plane that the caller has started, and stops. */
export const serverOn = (controlPlane: ControlPlaneAddress): TestServer => ({
  name: 'control plane',
  collectsGarbage: controlPlane.hasControllerManager,
  canOpenOwn: false,
  open: () => openPlace(controlPlane),
  openOwn: () => Promise.reject(new Error('it is the own one')),
});

/** `auditLogPath`: absent for a cluster that is not ours. */
export async function openPlace(on: {
  readonly kubeconfigPath: string;
  readonly auditLogPath?: string;
}): Promise<Place> {
  const { kubeconfigPath, auditLogPath } = on;
  const prefix = `t${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}-`;
  const access = await clusterAccess(kubeconfigPath);
  const log = auditLogPath === undefined ? undefined : await AuditLog.open(auditLogPath);
  return {
    cluster: loadCluster({ kubeconfig: kubeconfigPath, env: {} }),
    access,
    kubeconfigPath,
    domain: `${prefix}mirror.test`,
    prefix,
    countWrites: async () => {
      if (log === undefined) throw new Error('the cluster of TEST_KUBECONFIG has no audit log to count in');
      return (await log.calls()).filter((call) => isWrite(call, prefix)).length;
    },
    [Symbol.asyncDispose]: async () => {
      // A control plane of our own ends with the run, and its namespaces with it.
      if (log === undefined) await removeNamespaces(access, prefix);
    },
  };
}

async function openOwn(): Promise<OwnPlace> {
  const controlPlane = await startOwnControlPlane();
  const running = [controlPlane];
  return {
    ...(await openPlace(controlPlane)),
    forgetHistory: async () => {
      await controlPlane.compactEtcd();
      // The apiserver's watch cache remembers what etcd has forgotten.
      await controlPlane.restartApiServer();
    },
    startOver: async () => {
      // ConfigMaps from the etcd of another control plane: as if restored from an old backup.
      const another = await startOwnControlPlane();
      running.push(another);
      await another.killApiServer();
      await controlPlane.restartApiServer([`--etcd-servers-overrides=/configmaps#${another.etcdUrl}`]);
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(running.map((each) => each.stop()));
    },
  };
}

function isWrite({ stage, verb, objectRef }: AuditedCall, prefix: string): boolean {
  return (
    stage === 'ResponseComplete' &&
    WRITE_VERBS.includes(verb) &&
    objectRef?.resource === 'configmaps' &&
    objectRef.namespace?.startsWith(prefix) === true
  );
}

async function removeNamespaces(access: ClusterAccess, prefix: string): Promise<void> {
  await using client = openApiClient(access);
  const { body } = await client.request('GET', '/api/v1/namespaces');
  for (const { metadata } of body.items) {
    if (metadata.name.startsWith(prefix))
      await client.request('DELETE', `/api/v1/namespaces/${metadata.name}`);
  }
}
