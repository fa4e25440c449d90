import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { historyRestartSuite } from './history-restart.suite.ts';

historyRestartSuite(sandboxServer);
