import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { historiesSuite } from './histories.suite.ts';

describe('random histories on the sandbox end as an independent model says', () => {
  historiesSuite(sandboxServer, 8);
});
