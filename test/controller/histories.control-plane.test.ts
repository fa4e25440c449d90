import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { historiesSuite } from './histories.suite.ts';

describe.skipIf(lacks.controllerManager())(
  'random histories on a real control plane end as the model says',
  () => historiesSuite(controlPlaneServer, 4),
);
