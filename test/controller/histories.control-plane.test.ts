import { describe, test } from 'vitest';
import { lacks } from '../support/control-plane-suite.ts';
import { controlPlaneServer } from '../support/servers/control-plane-server.ts';
import { checkHistories } from './check-histories.ts';

describe.skipIf(lacks.controllerManager())(
  'random histories on a real control plane end as the model says',
  () => {
    test.concurrent(
      '[R1] 5 in one namespace',
      () => checkHistories(controlPlaneServer, 'in one', 5),
      120_000,
    );
    for (const part of [1, 2]) {
      test.concurrent(
        `[R1] 5 across namespaces (${part} of 2)`,
        () => checkHistories(controlPlaneServer, 'across', 5),
        120_000,
      );
    }
  },
);
