import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { kubectlContract } from './kubectl.contract.ts';

describe('[B3] the sandbox', () => kubectlContract(sandboxServer));
