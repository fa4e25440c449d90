import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { loadCluster } from '../../src/kube/config/kube-config.ts';
import { hasKubectl, useKubectl } from '../support/kubectl.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The command, running until `stop`; it has printed its lines. */
async function start(args: readonly string[]) {
  const io = memoryIo();
  const ended = runProgram(['sandbox', ...args], io);
  await waitFor(() => io.out().includes('export KUBECONFIG='), { describe: () => io.out() + io.err() });
  const path = /^kubeconfig: (.+)$/m.exec(io.out())?.[1] ?? '';
  return {
    io,
    path,
    server: loadCluster({ kubeconfig: path, env: {} }).server,
    stop: async () => {
      io.stop();
      return ended;
    },
  };
}

test('[C7] sandbox says where its kubeconfig is, and mirrors until stopped; then nothing is left', async () => {
  const { path, server, stop, io } = await start([]);
  expect(io.out()).toBe(
    `serves: ConfigMap, Event, Lease, Namespace\nkubeconfig: ${path}\nexport KUBECONFIG=${path}\n`,
  );
  const url = `${server}/api/v1/namespaces/default/configmaps`;
  const metadata = { name: 'colors', labels: { 'workshop.io/managed': 'true' } };
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { sky: 'blue' } });
  await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  await waitFor(async () => (await fetch(`${url}/colors-synced`)).ok, { describe: () => io.err() });
  expect(await stop()).toBe(0);
  expect(existsSync(path)).toBe(false);
  await expect(fetch(url)).rejects.toThrow();
});

test('[B1] --no-controller serves the API alone, --kubeconfig chooses the file', async () => {
  const path = join(folder, 'my config');
  const { server, stop, io } = await start(['--no-controller', '--kubeconfig', path]);
  expect(io.out()).toContain(`export KUBECONFIG='${path}'`);
  expect((await fetch(`${server}/readyz`)).status).toBe(200);
  expect(io.err()).toBe('');
  expect(await stop()).toBe(0);
  expect(existsSync(path)).toBe(false);
});

test("[O5] somebody else's kubeconfig is never overwritten", async () => {
  const path = join(folder, 'precious');
  writeFileSync(path, 'apiVersion: v1\nkind: Config\n');
  const io = memoryIo();
  expect(await runProgram(['sandbox', '--kubeconfig', path], io)).toBe(2);
  expect(io.err()).toContain('was not written by this command');
  expect(readFileSync(path, 'utf8')).toBe('apiVersion: v1\nkind: Config\n');
});

test('[C7] the kubeconfig of a sandbox that still runs is refused, and the sandbox keeps it', async () => {
  const path = join(folder, 'shared');
  const { stop, server } = await start(['--no-controller', '--kubeconfig', path]);
  const written = readFileSync(path, 'utf8');
  const io = memoryIo();
  io.stop();
  expect(await runProgram(['sandbox', '--kubeconfig', path], io)).toBe(2);
  expect(io.err()).toContain(`--kubeconfig ${path}: the sandbox at ${server} uses the file; stop it, or`);
  expect(readFileSync(path, 'utf8')).toBe(written);
  await stop();
  // As after a crash: the file is there, its sandbox is not.
  writeFileSync(path, written);
  const next = await start(['--no-controller', '--kubeconfig', path]);
  expect(next.server).not.toBe(server);
  expect(await next.stop()).toBe(0);
  expect(existsSync(path)).toBe(false);
});

describe.skipIf(!hasKubectl())('[C7] a kubeconfig that kubectl has rewritten', () => {
  const path = join(folder, 'rewritten');
  const config = useKubectl(
    () => path,
    () => 'default',
  );

  test('is still the sandbox’s: deleted at its end, and overwritten after a crash', async () => {
    const { stop, server } = await start(['--no-controller', '--kubeconfig', path]);
    const { exitCode } = await config.run(['config', 'set', 'contexts.sandbox.namespace', 'shop']);
    expect(exitCode).toBe(0);
    const rewritten = readFileSync(path, 'utf8');
    expect(rewritten).toContain('namespace: shop');
    expect(await stop()).toBe(0);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, rewritten);
    const next = await start(['--no-controller', '--kubeconfig', path]);
    expect(next.server).not.toBe(server);
    expect(await next.stop()).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test('is the user’s once it has another cluster: neither deleted nor overwritten', async () => {
    const { stop } = await start(['--no-controller', '--kubeconfig', path]);
    await config.run(['config', 'set-cluster', 'yours', '--server=https://10.0.0.1']);
    expect(await stop()).toBe(0);
    const kept = readFileSync(path, 'utf8');
    const io = memoryIo();
    expect(await runProgram(['sandbox', '--kubeconfig', path], io)).toBe(2);
    expect(io.err()).toContain('was not written by this command');
    expect(readFileSync(path, 'utf8')).toBe(kept);
  });
});

test('[C7] a file that has replaced the kubeconfig meanwhile stays', async () => {
  const path = join(folder, 'replaced');
  const { stop } = await start(['--no-controller', '--kubeconfig', path]);
  writeFileSync(path, 'apiVersion: v1\nkind: Config\n');
  expect(await stop()).toBe(0);
  expect(readFileSync(path, 'utf8')).toBe('apiVersion: v1\nkind: Config\n');
});

test('[O5] a kubeconfig that cannot be written: exit code 2, and nothing is printed', async () => {
  for (const path of [join(folder, 'no', 'such', 'folder'), folder]) {
    const io = memoryIo();
    expect(await runProgram(['sandbox', '--kubeconfig', path], io)).toBe(2);
    expect(io.err()).toContain(`--kubeconfig ${path}: E`);
    expect(io.err()).not.toMatch(/\n\s+at /);
    expect(io.out()).toBe('');
  }
});

test('[O5] a port that is taken: exit code 1, and what to do', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const address = blocker.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const io = memoryIo();
  expect(await runProgram(['sandbox', '--port', String(port)], io)).toBe(1);
  expect(io.err()).toContain(`cannot listen on port ${port}`);
  expect(io.err()).not.toMatch(/\n\s+at /);
  blocker.close();
});
