import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { annotationsSuite } from './annotations.suite.ts';
import { mirroringSuite } from './mirroring.suite.ts';
import { ownershipSuite } from './ownership.suite.ts';
import { permissionSuite } from './permission.suite.ts';
import { reconcilingSuite } from './reconciling.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  annotationsSuite(controlPlaneServer);
  permissionSuite(controlPlaneServer);
  mirroringSuite(controlPlaneServer);
  ownershipSuite(controlPlaneServer);
  reconcilingSuite(controlPlaneServer);
});
