import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { type ApiClient, openApiClient } from '../support/api-client.ts';
import { contract } from './contract.ts';
import { makeHistory } from './server.ts';

describe('[B3] the sandbox', () => {
  const clientThere = () => {
    if (client === undefined) throw new Error('the client is there while tests run');
    return client;
  };
  const sandbox = createSandbox({ now: () => new Date(), uid: randomUUID });
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  let client: ApiClient | undefined;
  beforeAll(async () => {
    await sandbox.start();
    writeFileSync(kubeconfigPath, sandbox.kubeconfig());
    client = openApiClient({ url: sandbox.url, tls: {}, headers: {} });
  });
  afterAll(async () => {
    await client?.close();
    await sandbox.stop();
    rmSync(folder, { recursive: true });
  });

  contract({
    name: 'sandbox',
    collectsGarbage: true,
    canCompact: true,
    client: clientThere,
    kubeconfigPath: () => kubeconfigPath,
    compact: async () => sandbox.compact(),
    canForget: true,
    forget: async () => {
      const oldVersion = await makeHistory(clientThere());
      sandbox.compact();
      return {
        client: clientThere(),
        namespace: 'default',
        oldVersion,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
  });
});
