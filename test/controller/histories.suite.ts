import process from 'node:process';
import { test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { checkHistories } from './check-histories.ts';
import { checkContentHistories } from './content-histories.ts';

const KINDS = {
  '[R1] in one namespace': (server: TestServer, runs: number) =>
    checkHistories(server, 'in one namespace', runs),
  '[R1] across namespaces': (server: TestServer, runs: number) =>
    checkHistories(server, 'across namespaces', runs),
  '[D1] [D3] under brake and delay': (server: TestServer, runs: number) =>
    checkHistories(server, 'under brake and delay', runs),
  '[V4] with values': (server: TestServer, runs: number) => checkHistories(server, 'with values', runs),
  '[D4] [D5] [D6] [V5] with revisions, pins, a canary and values': checkContentHistories,
};

/** Parts of one kind that are played at the same time: each waits most of its time. */
const PARTS = 2;
/** Time limit (ms) of a part, and of each history in it: only a failure takes so long. */
const PART_MS = 60_000;
const HISTORY_MS = 6_000;

/**
 * Random histories of each kind.
 * @param runs of each kind, unless the environment variable HISTORIES says how many
 */
export function historiesSuite(server: TestServer, runs: number): void {
  const asked = Number(process.env['HISTORIES'] ?? runs);
  const ofPart = Math.ceil(asked / PARTS);
  for (const [kind, check] of Object.entries(KINDS)) {
    for (let part = 1; part <= PARTS; part++) {
      const title = `${kind}: ${ofPart} (${part} of ${PARTS})`;
      test.concurrent(title, () => check(server, ofPart), PART_MS + ofPart * HISTORY_MS);
    }
  }
}
