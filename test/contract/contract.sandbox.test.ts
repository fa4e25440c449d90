import { describe } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { contract } from './contract.ts';

describe('[B3] the sandbox', () => contract(sandboxServer));
