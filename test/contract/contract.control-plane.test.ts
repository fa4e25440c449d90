import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { contract } from './contract.ts';

describe.skipIf(lacks.cluster())('[B3] the real kube-apiserver', () => contract(controlPlaneServer));
