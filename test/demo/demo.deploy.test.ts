import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { clusterSuite } from './cluster.suite.ts';

describe.skipIf(lacks.controllerManager())('the demo on a real control plane', () =>
  clusterSuite(controlPlaneServer),
);
