import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { notifySuite } from './notify.suite.ts';

describe('on the sandbox', () => notifySuite(sandboxServer));
