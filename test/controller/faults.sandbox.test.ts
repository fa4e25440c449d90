import { describe } from 'vitest';
import { faultsSuite } from './faults.suite.ts';
import { sandboxServer } from './sandbox-server.ts';

describe('between the controller and the sandbox', () => faultsSuite(sandboxServer));
