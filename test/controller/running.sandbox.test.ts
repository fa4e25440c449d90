import { describe } from 'vitest';
import { badInputSuite } from './bad-input.suite.ts';
import { runningSuite } from './running.suite.ts';
import { sandboxServer } from './sandbox-server.ts';

describe('on the sandbox', () => {
  runningSuite(sandboxServer);
  badInputSuite(sandboxServer);
});
