import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { badInputSuite } from './bad-input.suite.ts';
import { runningSuite } from './running.suite.ts';

describe('on the sandbox', () => {
  runningSuite(sandboxServer);
  badInputSuite(sandboxServer);
});
