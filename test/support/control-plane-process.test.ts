import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { waitFor } from './wait-for.ts';

test('a server of the control plane ends with the process that started it, even by SIGKILL', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'server-process-'));
  const module = new URL('./control-plane-process.ts', import.meta.url).href;
  // The stand-in for a server tells its own process id.
  const script = `
      import { startServerProcess } from ${JSON.stringify(module)};
      startServerProcess('/bin/sh', ['-c', 'echo $$; exec sleep 300'], ${JSON.stringify(join(folder, 'log'))});
    `;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: 'ignore',
  });
  const serverPid = await waitFor(() => Number(readFileSync(join(folder, 'log'), 'utf8')), {
    deadlineMs: 30_000,
  });
  expect(isAlive(serverPid)).toBe(true);

  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await waitFor(() => !isAlive(serverPid));
  rmSync(folder, { recursive: true });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
