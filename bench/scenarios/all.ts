import type { Scenario, SubjectName } from '../scenario.ts';
import { alone, beside } from './beside.ts';
import { bulk } from './bulk.ts';
import { burst } from './burst.ts';
import { busy } from './busy.ts';
import { ceiling } from './ceiling.ts';
import { companions } from './companions.ts';
import { edits } from './edits.ts';
import { fanOut } from './fan-out.ts';
import { idle } from './idle.ts';
import { newNamespace } from './new-namespace.ts';

/** Small sizes: client-go's defaults let five writes a second pass. */
const THROTTLED: readonly SubjectName[] = ['ours', 'go-5qps'];
const OPPONENTS: readonly SubjectName[] = ['ours', 'go', 'go-protobuf'];

export const SCENARIOS: readonly Scenario[] = [
  ceiling,
  idle,
  bulk({ name: 'cold-start-1000', describe: '1,000 sources of 1 KiB', sources: 1000, subjects: OPPONENTS }),
  bulk({
    name: 'cold-start-10000',
    describe: '10,000 sources of 1 KiB',
    sources: 10_000,
    subjects: OPPONENTS,
  }),
  bulk({ name: 'large', describe: '1,000 sources of 100 KiB', sources: 1000, bytes: 102_400 }),
  bulk({
    name: 'unrelated',
    describe: '1,000 sources of 1 KiB among 20,000 ConfigMaps that are none',
    sources: 1000,
    unrelated: 20_000,
  }),
  companions({ name: 'companions', bytes: 1024 }),
  companions({ name: 'companions-16', bytes: 16 * 1024 }),
  bulk({ name: 'throttled', describe: '100 sources of 1 KiB', sources: 100, subjects: THROTTLED }),
  edits({ name: 'throttled-edits', sources: 10, subjects: THROTTLED }),
  // The 99th percentile of fewer is the worst one.
  edits({ name: 'edits', sources: 300 }),
  beside,
  alone,
  // A tenth of a second each: one alone says little.
  fanOut(100, 8),
  fanOut(1000, 3),
  newNamespace,
  busy,
  burst,
];
