import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { explainSuite } from './explain.suite.ts';
import { inspectSuite } from './inspect.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  inspectSuite(controlPlaneServer);
  explainSuite(controlPlaneServer);
});
