import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { eventsSuite } from './events.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => eventsSuite(controlPlaneServer));
