import fc from 'fast-check';
import type { TestServer } from '../support/servers/server.ts';
import { historyAcrossNamespaces, historyInOneNamespace } from './history.ts';
import { playHistory } from './play-history.ts';

/** Plays random histories. A failure prints its seed and history, not shrunk: that is slow. */
export function checkHistories(server: TestServer, where: 'in one' | 'across', runs: number): Promise<void> {
  const across = where === 'across';
  const histories = across ? historyAcrossNamespaces : historyInOneNamespace;
  const property = fc.asyncProperty(histories, (history) => playHistory(server, history, { across }));
  return fc.assert(property, { numRuns: runs, endOnFailure: true });
}
