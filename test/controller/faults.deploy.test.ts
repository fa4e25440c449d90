import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { faultsSuite } from './faults.suite.ts';

describe.skipIf(lacks.controllerManager())('between the controller and a real control plane', () =>
  faultsSuite(controlPlaneServer),
);
