import { describe, test } from 'vitest';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { checkHistories } from './check-histories.ts';
import { checkContentHistories } from './content-histories.ts';

// Several at a time: each waits most of its time.
describe('random histories on the sandbox end as an independent model says', () => {
  for (const part of [1, 2, 3, 4]) {
    test.concurrent(
      `[R1] 50 in one namespace (${part} of 4)`,
      () => checkHistories(sandboxServer, 'in one namespace', 50),
      120_000,
    );
  }
  for (const part of [1, 2]) {
    test.concurrent(
      `[D1] [D3] 50 under brake and delay (${part} of 2)`,
      () => checkHistories(sandboxServer, 'under brake and delay', 50),
      120_000,
    );
  }
  for (const part of [1, 2, 3, 4, 5, 6]) {
    test.concurrent(
      `[R1] 50 across namespaces (${part} of 6)`,
      () => checkHistories(sandboxServer, 'across namespaces', 50),
      120_000,
    );
  }
  for (const part of [1, 2]) {
    test.concurrent(
      `[D4] [D5] [D6] 25 with revisions, pins and a canary (${part} of 2)`,
      () => checkContentHistories(sandboxServer, 25),
      240_000,
    );
  }
  for (const part of [1, 2, 3]) {
    test.concurrent(
      `[V4] 50 with values (${part} of 3)`,
      () => checkHistories(sandboxServer, 'with values', 50),
      120_000,
    );
  }
});
