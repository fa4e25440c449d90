import { sandboxServer } from '../../support/servers/sandbox-server.ts';
import { leasesSuite } from './leases.suite.ts';

leasesSuite(sandboxServer);
