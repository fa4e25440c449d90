import { describe } from 'vitest';
import { clusterAccess } from '../support/cluster-access.ts';
import { lacks, sharedCluster } from '../support/control-plane-suite.ts';
import { clusterSuite } from './cluster.suite.ts';

describe.skipIf(lacks.controllerManager())('the demo on a real control plane', () => {
  clusterSuite({
    kubeconfigPath: () => sharedCluster().kubeconfigPath,
    access: () => clusterAccess(sharedCluster().kubeconfigPath),
  });
});
