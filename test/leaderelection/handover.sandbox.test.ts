import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { handoverSuite } from './handover.suite.ts';

handoverSuite(sandboxServer);
