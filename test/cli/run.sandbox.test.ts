import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'run-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('[C4] run --once reports that it was stopped before all was done, and exits with 1', async () => {
  await using place = await sandboxServer.open();
  const url = `${place.access.url}/api/v1/namespaces/default/configmaps`;
  for (let number = 0; number < 50; number++) {
    const metadata = { name: `source-${number}`, labels: { 'workshop.io/managed': 'true' } };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
  const io = memoryIo();
  const args = ['run', '--once', '--kubeconfig', place.kubeconfigPath, '--max-writes-per-second', '20'];
  const ended = runProgram(args, io);
  await waitFor(() => io.err().includes('companion created'));
  io.stop();
  expect(await ended).toBe(1);
  expect(io.err()).toContain('stopped before all was done');
  expect(io.err()).not.toContain('all done');
});

test('[W3] [W1] run retries a server that answers 503 at the start, reports that, and lists only by its label', async () => {
  await using place = await sandboxServer.open();
  await using proxy = await startFaultProxy({ upstream: place.access, tls: false });
  proxy.inject({ fault: { kind: 'status', code: 503 }, times: 1 });
  proxy.inject({ fault: { kind: 'reset' }, skip: 0, times: 1 });
  const kubeconfig = join(folder, 'unready');
  writeFileSync(kubeconfig, proxy.kubeconfig('none'));
  const io = memoryIo();
  const ended = runProgram(['run', '--kubeconfig', kubeconfig, '--log-format', 'json'], io);
  await waitFor(() => io.err().includes('caches synced'), { deadlineMs: 15_000, describe: () => io.err() });
  expect(io.err().split('the API server is not ready; retrying')).toHaveLength(3);
  expect(proxy.requests.filter(({ path }) => !path.includes('labelSelector='))).toEqual([]);
  io.stop();
  expect(await ended).toBe(0);
});

test('[Q3] run stops at once and with exit code 0 while its server does not answer', async () => {
  const silent = createServer();
  const connected = once(silent, 'connection');
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const kubeconfig = join(folder, 'silent');
  const { port } = silent.address() as AddressInfo;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'silent', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'silent', context: { cluster: 'silent', user: '' } }],
      'current-context': 'silent',
    }),
  );
  const io = memoryIo();
  let code: number | undefined;
  const ended = runProgram(['run', '--kubeconfig', kubeconfig], io).then((result) => {
    code = result;
  });
  const [socket] = (await connected) as [Socket];
  io.stop();
  // Sooner than a request's own time limit, 30 s.
  await waitFor(() => code !== undefined, { deadlineMs: 15_000, describe: () => io.err() });
  expect(code).toBe(0);
  expect(io.err()).not.toContain('cannot reach');
  socket.destroy();
  silent.close();
  await ended;
});
