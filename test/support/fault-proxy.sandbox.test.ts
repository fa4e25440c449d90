import { describe } from 'vitest';
import { faultProxyCases } from './fault-proxy.cases.ts';
import { sandboxServer } from './servers/sandbox-server.ts';

describe('[B2] the fault proxy before the sandbox', () => faultProxyCases(sandboxServer));
