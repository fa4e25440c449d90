import { afterAll, beforeAll, describe } from 'vitest';
import { type ApiClient, openApiClient } from '../support/api-client.ts';
import { clusterAccess } from '../support/cluster-access.ts';
import { compactEtcd } from '../support/control-plane-etcd.ts';
import { lacks, sharedCluster, startOwnControlPlane } from '../support/control-plane-suite.ts';
import { contract } from './contract.ts';
import { type ForgetfulServer, makeHistory } from './server.ts';

describe.skipIf(lacks.cluster())('[B3] the real kube-apiserver', () => {
  let client: ApiClient | undefined;
  beforeAll(async () => {
    client = openApiClient(await clusterAccess(sharedCluster().kubeconfigPath));
  });
  afterAll(() => client?.close());

  contract({
    name: 'kube-apiserver',
    collectsGarbage: !lacks.controllerManager(),
    canCompact: !lacks.sharedControlPlane(),
    client: () => {
      if (client === undefined) throw new Error('the client is there while tests run');
      return client;
    },
    kubeconfigPath: () => sharedCluster().kubeconfigPath,
    compact: () => compactEtcd(sharedCluster().controlPlane?.etcdUrl ?? ''),
    canForget: !lacks.ownControlPlane(),
    forget,
  });
});

/** An apiserver's watch cache remembers what etcd has forgotten, until it starts anew. */
async function forget(): Promise<ForgetfulServer> {
  const controlPlane = await startOwnControlPlane();
  const client = openApiClient(await clusterAccess(controlPlane.kubeconfigPath));
  const oldVersion = await makeHistory(client);
  await controlPlane.compactEtcd();
  await controlPlane.restartApiServer();
  const stop = async () => {
    await client.close();
    await controlPlane.stop();
  };
  return { client, namespace: 'default', oldVersion, [Symbol.asyncDispose]: stop };
}
