import { randomUUID } from 'node:crypto';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { type Place, type TestServer, WRITE_VERBS } from './server.ts';

/** A sandbox for each test. */
export const sandboxServer: TestServer = {
  name: 'sandbox',
  open: async (): Promise<Place> => {
    const sandbox = createSandbox({ now: () => new Date(), uid: randomUUID });
    await sandbox.start();
    return {
      cluster: { server: sandbox.url, context: 'sandbox' },
      access: { url: sandbox.url, tls: {}, headers: {} },
      kubeconfig: sandbox.kubeconfig(),
      domain: 'workshop.io',
      prefix: 'my-',
      countWrites: async () =>
        sandbox
          .requestCounts()
          .filter(({ verb, resource }) => WRITE_VERBS.includes(verb) && resource === 'configmaps')
          .reduce((sum, { count }) => sum + count, 0),
      [Symbol.asyncDispose]: () => sandbox.stop(),
    };
  },
};
