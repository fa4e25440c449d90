import { randomUUID } from 'node:crypto';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { historyRestartSuite } from './history-restart.suite.ts';

historyRestartSuite(async () => {
  const create = () => createSandbox({ now: () => new Date(), uid: randomUUID });
  let sandbox = create();
  await sandbox.start();
  const server = sandbox.url;
  return {
    cluster: { server, context: 'sandbox' },
    beginAgain: async () => {
      await sandbox.stop();
      sandbox = create();
      await sandbox.start(Number(new URL(server).port));
    },
    [Symbol.asyncDispose]: () => sandbox.stop(),
  };
});
