import { afterAll, describe, expect } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { canarySuite } from './canary.suite.ts';
import { pinSuite } from './pin.suite.ts';
import { renderedRolloutsSuite } from './rendered-rollouts.suite.ts';
import { revisionsSuite } from './revisions.suite.ts';
import { underShippedRights } from './shipped-rights.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane, under the shipped rights', () => {
  // A cluster that is not ours has no audit log to read, and gets no roles.
  const guarded = lacks.sharedControlPlane()
    ? undefined
    : underShippedRights(controlPlaneServer, 'rollouts-under-shipped-rights');
  const server = guarded ?? controlPlaneServer;
  revisionsSuite(server);
  pinSuite(server);
  canarySuite(server);
  renderedRolloutsSuite(server);

  afterAll(async () => expect(await guarded?.refusals()).toEqual(guarded && []));
});
