import { describe } from 'vitest';
import { lacks } from './control-plane-suite.ts';
import { faultProxyCases } from './fault-proxy.cases.ts';
import { controlPlaneServer } from './servers/control-plane-server.ts';

describe.skipIf(lacks.cluster())('[B2] the fault proxy before the real kube-apiserver', () =>
  faultProxyCases(controlPlaneServer),
);
