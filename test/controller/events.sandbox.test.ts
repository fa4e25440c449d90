import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { eventsSuite } from './events.suite.ts';

describe('on the sandbox', () => eventsSuite(sandboxServer));
