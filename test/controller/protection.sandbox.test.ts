import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { brakeSuite, releaseSuite } from './brake.suite.ts';
import { delaySuite } from './delay.suite.ts';

describe('damage control on the sandbox', () => {
  delaySuite(sandboxServer);
  brakeSuite(sandboxServer);
  releaseSuite(sandboxServer);
});
