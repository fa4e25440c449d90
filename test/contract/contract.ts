import type { TestServer } from '../support/servers/server.ts';
import { applyContract } from './apply.contract.ts';
import { crudContract } from './crud.contract.ts';
import { deletionContract } from './deletion.contract.ts';
import { eventsContract } from './events.contract.ts';
import { garbageCollectionContract } from './garbage-collection.contract.ts';
import { historyContract } from './history.contract.ts';
import { leasesContract } from './leases.contract.ts';
import { namespacesContract } from './namespaces.contract.ts';
import { outputContract } from './output.contract.ts';
import { pagingContract } from './paging.contract.ts';
import { patchContract } from './patch.contract.ts';
import { refusalsContract } from './refusals.contract.ts';
import { selectorsContract } from './selectors.contract.ts';
import { validationContract } from './validation.contract.ts';
import { watchContract } from './watch.contract.ts';

/**
 * Everything that our controller and our tests count on an API server for (SPEC B3); kubectl has
 * its own contract.
 */
export function contract(server: TestServer): void {
  crudContract(server);
  deletionContract(server);
  refusalsContract(server);
  validationContract(server);
  patchContract(server);
  applyContract(server);
  selectorsContract(server);
  pagingContract(server);
  watchContract(server);
  historyContract(server);
  outputContract(server);
  leasesContract(server);
  eventsContract(server);
  namespacesContract(server);
  garbageCollectionContract(server);
}
