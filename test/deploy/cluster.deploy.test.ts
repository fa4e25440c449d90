import { describe } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { applySuite } from './apply.suite.ts';
import { consentSuite } from './consent.suite.ts';
import { kindWorkshopSuite } from './kind-workshop.suite.ts';

// One after the other: they use the namespace that the manifests create.
describe.skipIf(lacks.controllerManager())('on a real control plane', () => {
  applySuite();
  consentSuite();
  kindWorkshopSuite();
});
