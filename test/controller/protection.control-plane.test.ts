import { afterAll, describe, expect } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { brakeSuite, releaseSuite } from './brake.suite.ts';
import { delaySuite } from './delay.suite.ts';
import { settleSuite } from './settle.suite.ts';
import { underShippedRights } from './shipped-rights.ts';

describe.skipIf(lacks.controllerManager())(
  'damage control on a real control plane, under the shipped rights',
  () => {
    // A cluster that is not ours has no audit log to read, and gets no roles.
    const guarded = lacks.sharedControlPlane()
      ? undefined
      : underShippedRights(controlPlaneServer, 'protection-under-shipped-rights');
    const server = guarded ?? controlPlaneServer;
    delaySuite(server);
    brakeSuite(server);
    releaseSuite(server);
    settleSuite(server);

    afterAll(async () => expect(await guarded?.refusals()).toEqual(guarded && []));
  },
);
