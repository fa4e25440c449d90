import { describe, test } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { checkHistories } from './check-histories.ts';
import { checkContentHistories } from './content-histories.ts';

describe.skipIf(lacks.controllerManager())(
  'random histories on a real control plane end as the model says',
  () => {
    test.concurrent(
      '[R1] 5 in one namespace',
      () => checkHistories(controlPlaneServer, 'in one namespace', 5),
      120_000,
    );
    test.concurrent(
      '[D1] [D3] 5 under brake and delay',
      () => checkHistories(controlPlaneServer, 'under brake and delay', 5),
      120_000,
    );
    for (const part of [1, 2]) {
      test.concurrent(
        `[R1] 5 across namespaces (${part} of 2)`,
        () => checkHistories(controlPlaneServer, 'across namespaces', 5),
        120_000,
      );
    }
    test.concurrent(
      '[V4] 5 with values',
      () => checkHistories(controlPlaneServer, 'with values', 5),
      120_000,
    );
    test.concurrent(
      '[D4] [D5] [D6] 5 with revisions, pins and a canary',
      () => checkContentHistories(controlPlaneServer, 5),
      240_000,
    );
  },
);
