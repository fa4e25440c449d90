import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { historyRestartSuite } from './history-restart.suite.ts';

describe.skipIf(lacks.ownControlPlane())('a real control plane', () =>
  historyRestartSuite(controlPlaneServer),
);
