import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { inspectSuite } from './inspect.suite.ts';

inspectSuite(sandboxServer);
