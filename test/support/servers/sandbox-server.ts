import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import { type OwnPlace, type TestServer, WRITE_VERBS } from './server.ts';

/** A sandbox for each place. */
export const sandboxServer: TestServer = {
  name: 'sandbox',
  collectsGarbage: true,
  canOpenOwn: true,
  open,
  openOwn: open,
};

async function open(): Promise<OwnPlace> {
  const create = () => createSandbox({ now: () => new Date(), uid: randomUUID });
  let sandbox = create();
  await sandbox.start();
  const { url } = sandbox;
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigPath, sandbox.kubeconfig());
  return {
    cluster: { server: url, context: 'sandbox' },
    access: { url, tls: {}, headers: {} },
    kubeconfigPath,
    domain: 'workshop.io',
    prefix: 'my-',
    countWrites: async () =>
      sandbox
        .requestCounts()
        .filter(({ verb, resource }) => WRITE_VERBS.includes(verb) && resource === 'configmaps')
        .reduce((sum, { count }) => sum + count, 0),
    forgetHistory: async () => sandbox.compact(),
    startOver: async () => {
      await sandbox.stop();
      sandbox = create();
      await sandbox.start(Number(new URL(url).port));
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
