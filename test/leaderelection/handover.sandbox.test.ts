import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { handoverSuite } from './handover.suite.ts';
import { useBundle } from './replicas.ts';

handoverSuite(sandboxServer, useBundle());
