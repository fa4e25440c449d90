import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { badInputSuite } from './bad-input.suite.ts';
import { runningSuite } from './running.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  runningSuite(controlPlaneServer);
  badInputSuite(controlPlaneServer);
});
