import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { explainSuite } from './explain.suite.ts';
import { inspectSuite } from './inspect.suite.ts';

inspectSuite(sandboxServer);
explainSuite(sandboxServer);
