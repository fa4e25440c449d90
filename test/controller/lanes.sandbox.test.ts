import { describe } from 'vitest';
import { lanesSuite } from './lanes.suite.ts';
import { sandboxServer } from './sandbox-server.ts';

describe('on the sandbox', () => {
  lanesSuite(sandboxServer);
});
