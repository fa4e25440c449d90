import { describe } from 'vitest';
import { clusterAccess } from './cluster-access.ts';
import { lacks, sharedCluster } from './control-plane-suite.ts';
import { faultProxyCases } from './fault-proxy.cases.ts';

describe.skipIf(lacks.cluster())('[B2] the fault proxy before the real kube-apiserver', () => {
  faultProxyCases(() => clusterAccess(sharedCluster().kubeconfigPath));
});
