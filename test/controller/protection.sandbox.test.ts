import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { brakeSuite, releaseSuite } from './brake.suite.ts';
import { delaySuite } from './delay.suite.ts';
import { settleSuite } from './settle.suite.ts';

describe('damage control on the sandbox', () => {
  delaySuite(sandboxServer);
  brakeSuite(sandboxServer);
  releaseSuite(sandboxServer);
  settleSuite(sandboxServer);
});
