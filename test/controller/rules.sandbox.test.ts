import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { annotationsSuite } from './annotations.suite.ts';
import { mirroringSuite } from './mirroring.suite.ts';
import { ownershipSuite } from './ownership.suite.ts';
import { permissionSuite } from './permission.suite.ts';
import { reconcilingSuite } from './reconciling.suite.ts';
import { valuesSuite } from './values.suite.ts';

describe('on the sandbox', () => {
  annotationsSuite(sandboxServer);
  permissionSuite(sandboxServer);
  mirroringSuite(sandboxServer);
  ownershipSuite(sandboxServer);
  reconcilingSuite(sandboxServer);
  valuesSuite(sandboxServer);
});
