import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { brakeSuite, releaseSuite } from './brake.suite.ts';
import { delaySuite } from './delay.suite.ts';
import { settleSuite } from './settle.suite.ts';

describe.skipIf(lacks.controllerManager())('damage control on a real control plane', () => {
  delaySuite(controlPlaneServer);
  brakeSuite(controlPlaneServer);
  releaseSuite(controlPlaneServer);
  settleSuite(controlPlaneServer);
});
