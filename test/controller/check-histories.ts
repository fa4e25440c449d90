import fc from 'fast-check';
import type { TestServer } from '../support/servers/server.ts';
import { historyOfContent } from './content-history.ts';
import { playContentHistory } from './content-player.ts';
import {
  historyAcrossNamespaces,
  historyInOneNamespace,
  historyUnderProtection,
  historyWithValues,
} from './history.ts';
import { playHistory } from './play-history.ts';

type Play<T> = (server: TestServer, history: T) => Promise<void>;

/** How many histories to play, and which: the same seed and path give the same. */
export interface Sample {
  readonly runs: number;
  readonly seed: number;
  /** Only the one that failed before; empty: all. */
  readonly path: string;
}

function check<T>(histories: fc.Arbitrary<T>, play: Play<T>) {
  return async (server: TestServer, name: string, { runs, seed, path }: Sample): Promise<void> => {
    const property = fc.asyncProperty(histories, (history) => play(server, history));
    // Not shrunk: that is slow.
    const found = await fc.check(property, { numRuns: runs, seed, path, endOnFailure: true });
    if (!found.failed) return;
    const which = `HISTORIES_SEED=${found.seed} HISTORIES_PATH=${found.counterexamplePath}`;
    const again = `To play it again: ${which} npm run histories -- -t '${wordsOf(name)}'`;
    throw new Error(`${again}\n${fc.defaultReportMessage(found) ?? ''}`, { cause: found.errorInstance });
  };
}

/** Without the rules: their brackets mean something else in a pattern. */
const wordsOf = (name: string) => name.replaceAll(/\[.*?\] /g, '');

/** Each kind of random histories, with the rules that it is about. */
export const CHECKS = {
  '[R1] in one namespace': check(historyInOneNamespace, (server, history) =>
    playHistory(server, history, { across: false, brake: false }),
  ),
  '[R1] across namespaces': check(historyAcrossNamespaces, (server, history) =>
    playHistory(server, history, { across: true, brake: false }),
  ),
  '[D1] [D3] under brake and delay': check(historyUnderProtection, (server, history) =>
    playHistory(server, history, { across: true, brake: true }),
  ),
  '[V4] with values': check(historyWithValues, (server, history) =>
    playHistory(server, history, { across: true, brake: false }),
  ),
  '[D1-D7] [V5] with every guard': check(historyOfContent, playContentHistory),
};
