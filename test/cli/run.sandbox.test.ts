import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'run-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('[C4] run --once that is stopped before all is done says so, and exits with 1', async () => {
  const sandbox = createSandbox({ now: () => new Date(), uid: randomUUID });
  await sandbox.start();
  try {
    const url = `${sandbox.url}/api/v1/namespaces/default/configmaps`;
    for (let number = 0; number < 50; number++) {
      const metadata = { name: `source-${number}`, labels: { 'workshop.io/managed': 'true' } };
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    }
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, sandbox.kubeconfig());
    const io = memoryIo();
    const args = ['run', '--once', '--kubeconfig', kubeconfig, '--max-writes-per-second', '20'];
    const ended = runProgram(args, io);
    await waitFor(() => io.err().includes('companion created'));
    io.stop();
    expect(await ended).toBe(1);
    expect(io.err()).toContain('stopped before all was done');
    expect(io.err()).not.toContain('all done');
  } finally {
    await sandbox.stop();
  }
});
