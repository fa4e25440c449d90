import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { applySuite } from './apply.suite.ts';
import { consentSuite } from './consent.suite.ts';

// One after the other: both use the namespace that the manifests create.
describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  applySuite();
  consentSuite();
});
