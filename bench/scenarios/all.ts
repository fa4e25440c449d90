import type { Scenario } from '../scenario.ts';
import { bulk } from './bulk.ts';
import { burst } from './burst.ts';
import { busy } from './busy.ts';
import { ceiling } from './ceiling.ts';
import { edits } from './edits.ts';
import { fanOut } from './fan-out.ts';
import { idle } from './idle.ts';
import { newNamespace } from './new-namespace.ts';

export const SCENARIOS: readonly Scenario[] = [
  ceiling,
  idle,
  bulk({ name: 'cold-start-1000', describe: '1,000 sources of 1 KiB', sources: 1000 }),
  bulk({ name: 'cold-start-10000', describe: '10,000 sources of 1 KiB', sources: 10_000 }),
  bulk({ name: 'large', describe: '1,000 sources of 100 KiB', sources: 1000, bytes: 102_400 }),
  bulk({
    name: 'unrelated',
    describe: '1,000 sources of 1 KiB among 20,000 ConfigMaps that are none',
    sources: 1000,
    unrelated: 20_000,
  }),
  // At client-go's defaults 1,000 would take over three minutes.
  bulk({ name: 'throttled', describe: '100 sources of 1 KiB', sources: 100, subjects: ['ours', 'go-5qps'] }),
  edits,
  fanOut(100),
  fanOut(1000),
  newNamespace,
  busy,
  burst,
];
