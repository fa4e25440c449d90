import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { notifySuite } from './notify.suite.ts';

describe.skipIf(lacks.controllerManager())('on a real control plane', () => notifySuite(controlPlaneServer));
