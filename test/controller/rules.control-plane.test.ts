import { afterAll, describe, expect } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { annotationsSuite } from './annotations.suite.ts';
import { mirroringSuite } from './mirroring.suite.ts';
import { ownershipSuite } from './ownership.suite.ts';
import { permissionSuite } from './permission.suite.ts';
import { reconcilingSuite } from './reconciling.suite.ts';
import { underShippedRights } from './shipped-rights.ts';
import { valuesSuite } from './values.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane, under the shipped rights', () => {
  // A cluster that is not ours has no audit log to read, and gets no roles.
  const guarded = lacks.sharedControlPlane()
    ? undefined
    : underShippedRights(controlPlaneServer, 'rules-under-shipped-rights');
  const server = guarded ?? controlPlaneServer;
  annotationsSuite(server);
  permissionSuite(server);
  mirroringSuite(server);
  ownershipSuite(server);
  reconcilingSuite(server);
  valuesSuite(server);

  afterAll(async () => expect(await guarded?.refusals()).toEqual(guarded && []));
});
