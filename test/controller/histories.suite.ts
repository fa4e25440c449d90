import process from 'node:process';
import { test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { CHECKS } from './check-histories.ts';

/** Parts of one kind that are played at the same time: each waits most of its time. */
const PARTS = 4;
/** Time limit (ms) of a part, and of each history in it: only a failure takes so long. */
const PART_MS = 60_000;
const HISTORY_MS = 30_000;

/**
 * Random histories of each kind. Environment variables: HISTORIES says how many of each,
 * HISTORIES_SEED and HISTORIES_PATH which; a failure prints them.
 * @param runs of each kind, if nothing says how many
 */
export function historiesSuite(server: TestServer, runs: number): void {
  const { HISTORIES = runs, HISTORIES_SEED = Date.now() % 2 ** 31, HISTORIES_PATH: path = '' } = process.env;
  const parts = path === '' ? PARTS : 1;
  const ofPart = path === '' ? Math.ceil(Number(HISTORIES) / parts) : 1;
  for (const [kind, check] of Object.entries(CHECKS)) {
    for (let part = 0; part < parts; part++) {
      const seed = Number(HISTORIES_SEED) + part;
      test.concurrent(
        `${kind}: ${ofPart} of seed ${seed}`,
        () => check(server, kind, { runs: ofPart, seed, path }),
        PART_MS + ofPart * HISTORY_MS,
      );
    }
  }
}
