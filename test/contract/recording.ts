import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

/** A request and its answer. The answer may be added later, up to the end of the test. */
export type Exchange = Record<string, unknown>;
type Recorded = Readonly<Record<string, readonly Exchange[]>>;

/**
 * What a real kube-apiserver answered, one file for each topic in `recorded/`: for each test, by
 * its name, all its exchanges in order. Both servers are compared with it. `RECORD_CONTRACT=1`
 * makes the run against the real server write it again; the difference in git shows what a new
 * Kubernetes version does differently.
 */
export interface Recording {
  /** Adds an exchange to those of the running test, or of the hooks before the tests. */
  add(exchange: Exchange): void;
}

/** Exchanges of `beforeAll`. */
const SETUP = 'before the tests';

const env: { readonly RECORD_CONTRACT?: string } = process.env;

/**
 * Call it in the topic's `describe`. `mayRecord`: whether the answers of the server under test are
 * the truth.
 */
export function openRecording(topic: string, mayRecord: boolean): Recording {
  const path = fileURLToPath(new URL(`recorded/${topic}.json`, import.meta.url));
  const isRecording = mayRecord && env.RECORD_CONTRACT === '1';
  const recorded: Recorded = isRecording ? {} : JSON.parse(readFileSync(path, 'utf8'));
  const seen: Record<string, Exchange[]> = { [SETUP]: [] };
  let running = SETUP;
  let names: readonly string[] = [];

  beforeEach(({ task }) => {
    running = task.name;
    names = task.suite?.tasks.map(({ name }) => name) ?? [];
    seen[running] = [];
  });
  afterEach(() => {
    if (!isRecording) compareExchanges(running, seen[running] ?? [], recorded[running]);
  });
  afterAll(() => {
    if (!isRecording) {
      expect(plain(seen[SETUP])).toEqual(recorded[SETUP]);
      expect(Object.keys(recorded)).toEqual([SETUP, ...names]);
      return;
    }
    if (names.length === 0 || names.some((name) => !seen[name]?.length)) {
      throw new Error(
        `${path} was not written: only a run of all tests, of which each makes requests, is recorded`,
      );
    }
    writeFileSync(path, `${JSON.stringify(seen, undefined, 2)}\n`);
  });
  return { add: (exchange) => void seen[running]?.push(exchange) };
}

/** Fails unless `seen` is what was recorded: as many exchanges, and each of them the same. */
export function compareExchanges(
  name: string,
  seen: readonly Exchange[],
  recorded: readonly Exchange[] = [],
): void {
  if (recorded.length === 0) {
    const command = 'RECORD_CONTRACT=1 npm run test:control-plane -- test/contract';
    throw new Error(`there is no recording of "${name}"; record the contract with ${command}`);
  }
  expect(plain(seen)).toEqual(recorded);
}

/** As it comes back from a file. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
