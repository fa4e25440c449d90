import { describe } from 'vitest';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { Person } from '../controller/person.ts';
import { lacks, startOwnControlPlane } from '../support/control-plane-suite.ts';
import { historyRestartSuite } from './history-restart.suite.ts';

/** Writes that put the first etcd's revision well ahead of a new one's. */
const AHEAD = 300;

describe.skipIf(lacks.ownControlPlane())('a real control plane', () => {
  historyRestartSuite(async () => {
    const [controlPlane, another] = await Promise.all([startOwnControlPlane(), startOwnControlPlane()]);
    const cluster = loadCluster({ kubeconfig: controlPlane.kubeconfigPath, env: {} });
    await using person = new Person(cluster);
    for (let number = 0; number < AHEAD; number++) {
      await person.create({ metadata: { namespace: 'default', name: `ahead-${number}` } });
    }
    await another.killApiServer();
    return {
      cluster,
      // ConfigMaps from the etcd of another control plane: as from its own, restored from an old
      // backup.
      beginAgain: () =>
        controlPlane.restartApiServer([`--etcd-servers-overrides=/configmaps#${another.etcdUrl}`]),
      [Symbol.asyncDispose]: async () => {
        await Promise.all([controlPlane.stop(), another.stop()]);
      },
    };
  });
});
