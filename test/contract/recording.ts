import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';

/**
 * What a real kube-apiserver answered, one file for each topic in `recorded/`: for each test, by its name, what it
 * saw, in order. Both servers are held against it. With `RECORD_CONTRACT=1` the run against the real server writes
 * it anew (so run all of the contract then); the difference in git shows what a new Kubernetes version does
 * differently.
 */
export interface Recording {
  /** Fails unless the running test saw `value` at this point when it was recorded. */
  same(value: unknown): void;
}

const env: { readonly RECORD_CONTRACT?: string } = process.env;

type Recorded = Record<string, unknown[]>;

/** `mayRecord`: whether the server under test is one whose answers are the truth. */
export function openRecording(topic: string, mayRecord: boolean): Recording {
  const path = fileURLToPath(new URL(`recorded/${topic}.json`, import.meta.url));
  const isRecording = mayRecord && env.RECORD_CONTRACT === '1';
  const expected: Recorded = existsSync(path) && !isRecording ? readRecorded(path) : {};
  const seen: Recorded = {};
  afterAll(() => {
    if (!isRecording) return;
    mkdirSync(fileURLToPath(new URL('recorded/', import.meta.url)), { recursive: true });
    writeFileSync(path, `${JSON.stringify(seen, undefined, 2)}\n`);
  });
  return {
    same: (value) => {
      const name = testName();
      const steps = [...(seen[name] ?? []), value];
      seen[name] = steps;
      if (isRecording) return;
      const wanted = expected[name]?.[steps.length - 1];
      if (wanted === undefined) {
        throw new Error(
          `no recording of step ${steps.length} of "${name}": RECORD_CONTRACT=1 npm run test:control-plane`,
        );
      }
      expect(value).toEqual(wanted);
    },
  };
}

function readRecorded(path: string): Recorded {
  return JSON.parse(readFileSync(path, 'utf8')) as Recorded;
}

/** Without the outermost `describe`, which names the server. */
function testName(): string {
  const { currentTestName = '' } = expect.getState();
  return currentTestName.split(' > ').slice(1).join(' > ');
}
