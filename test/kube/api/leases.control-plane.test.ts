import { describe } from 'vitest';
import { lacks } from '../../support/control-plane-suite.ts';
import { controlPlaneServer } from '../../support/servers/control-plane-server.ts';
import { leasesSuite } from './leases.suite.ts';

describe.skipIf(lacks.cluster())('on a real control plane', () => {
  leasesSuite(controlPlaneServer);
});
