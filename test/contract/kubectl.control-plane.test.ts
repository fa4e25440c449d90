import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { kubectlContract } from './kubectl.contract.ts';

describe.skipIf(lacks.cluster())('[B3] the real kube-apiserver', () => kubectlContract(controlPlaneServer));
