import { bulk } from './bulk.ts';
import { burst } from './burst.ts';
import { busy } from './busy.ts';
import { canary } from './canary.ts';
import { ceiling } from './ceiling.ts';
import { cleanup } from './cleanup.ts';
import { companions } from './companions.ts';
import { edits, loneEdits } from './edits.ts';
import { fanOut } from './fan-out.ts';
import { idle } from './idle.ts';
import { newNamespace } from './new-namespace.ts';
import { notifications } from './notifications.ts';
import type { Scenario } from './scenario.ts';
import { status } from './status.ts';

export const SCENARIOS: readonly Scenario[] = [
  ceiling,
  idle,
  bulk({ name: 'cold-start-1000', sources: 1000, subjects: ['ours', 'go', 'go-protobuf'] }),
  bulk({ name: 'cold-start-5000', sources: 5000 }),
  bulk({ name: 'cold-start-10000', sources: 10_000 }),
  bulk({ name: 'large', sources: 1000, kib: 100 }),
  bulk({ name: 'unrelated', sources: 1000, unrelated: 20_000 }),
  companions,
  edits,
  // A fan-out to 100 takes a tenth of a second: one alone says little.
  fanOut(100, 8),
  fanOut(1000, 3),
  cleanup,
  newNamespace,
  busy,
  burst,
  loneEdits,
  canary,
  status,
  notifications,
  bulk({ name: 'huge', sources: 100_000, subjects: ['ours'], onRequest: true, rests: true }),
];
