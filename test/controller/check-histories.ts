import fc from 'fast-check';
import type { TestServer } from '../support/servers/server.ts';
import {
  historyAcrossNamespaces,
  historyInOneNamespace,
  historyUnderProtection,
  historyWithValues,
} from './history.ts';
import { playHistory } from './play-history.ts';

const HISTORIES = {
  'in one namespace': historyInOneNamespace,
  'across namespaces': historyAcrossNamespaces,
  'under brake and delay': historyUnderProtection,
  'with values': historyWithValues,
};

/** Plays random histories. A failure prints its seed and history, not shrunk: that is slow. */
export function checkHistories(
  server: TestServer,
  where: keyof typeof HISTORIES,
  runs: number,
): Promise<void> {
  const options = { across: where !== 'in one namespace', brake: where === 'under brake and delay' };
  const property = fc.asyncProperty(HISTORIES[where], (history) => playHistory(server, history, options));
  return fc.assert(property, { numRuns: runs, endOnFailure: true });
}
