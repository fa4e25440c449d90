import { readFileSync } from 'node:fs';
import type { Cluster } from '../../src/kube/config/cluster.ts';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { clusterAccess } from '../support/cluster-access.ts';
import { type AuditedCall, AuditLog } from '../support/control-plane-audit.ts';
import { sharedCluster } from '../support/control-plane-suite.ts';
import { Person } from './person.ts';
import { type Place, type TestServer, WRITE_VERBS } from './server.ts';

/** The control plane that all tests of the run share; each works in namespaces and with a domain of its own. */
export const controlPlaneServer: TestServer = {
  name: 'control plane',
  open: async (): Promise<Place> => {
    const { kubeconfigPath, controlPlane } = sharedCluster();
    const cluster = loadCluster({ kubeconfig: kubeconfigPath, env: {} });
    const prefix = `t${Math.random().toString(36).slice(2, 8).padEnd(6, '0')}-`;
    const log = controlPlane && (await AuditLog.open(controlPlane.auditLogPath));
    return {
      cluster,
      access: await clusterAccess(kubeconfigPath),
      kubeconfig: readFileSync(kubeconfigPath, 'utf8'),
      domain: `${prefix}mirror.test`,
      prefix,
      countWrites: async () => {
        if (log === undefined) throw new Error('the cluster of TEST_KUBECONFIG has no audit log to count in');
        return (await log.calls()).filter((call) => isWrite(call, prefix)).length;
      },
      [Symbol.asyncDispose]: async () => {
        // A control plane of our own ends with the run, and its namespaces with it.
        if (controlPlane === undefined) await removeNamespaces(cluster, prefix);
      },
    };
  },
};

function isWrite({ stage, verb, objectRef }: AuditedCall, prefix: string): boolean {
  return (
    stage === 'ResponseComplete' &&
    WRITE_VERBS.includes(verb) &&
    objectRef?.resource === 'configmaps' &&
    objectRef.namespace?.startsWith(prefix) === true
  );
}

async function removeNamespaces(cluster: Cluster, prefix: string): Promise<void> {
  await using person = new Person(cluster);
  const list = await person.get<{ readonly items: readonly { metadata: { name: string } }[] }>(
    '/api/v1/namespaces',
  );
  for (const { metadata } of list?.items ?? []) {
    if (metadata.name.startsWith(prefix)) await person.deleteNamespace(metadata.name);
  }
}
