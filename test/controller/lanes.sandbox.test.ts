import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { lanesSuite } from './lanes.suite.ts';

describe('on the sandbox', () => {
  lanesSuite(sandboxServer);
});
