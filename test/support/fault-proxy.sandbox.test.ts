import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { faultProxyCases } from './fault-proxy.cases.ts';

describe('[B2] the fault proxy before the sandbox', () => {
  const sandbox = createSandbox({ now: () => new Date(), uid: randomUUID });
  beforeAll(() => sandbox.start());
  afterAll(() => sandbox.stop());

  faultProxyCases(async () => ({ url: sandbox.url, tls: {}, headers: {} }));
});
