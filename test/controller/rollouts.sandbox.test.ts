import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { canarySuite } from './canary.suite.ts';
import { pinSuite } from './pin.suite.ts';
import { renderedRolloutsSuite } from './rendered-rollouts.suite.ts';
import { revisionsSuite } from './revisions.suite.ts';

describe('on the sandbox', () => {
  revisionsSuite(sandboxServer);
  pinSuite(sandboxServer);
  canarySuite(sandboxServer);
  renderedRolloutsSuite(sandboxServer);
});
