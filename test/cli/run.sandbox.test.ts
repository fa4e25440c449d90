import { randomUUID } from 'node:crypto';
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

async function createSources(server: string, count: number): Promise<void> {
  const url = `${server}/api/v1/namespaces/default/configmaps`;
  for (let number = 0; number < count; number++) {
    const metadata = { name: `source-${number}`, labels: { 'workshop.io/managed': 'true' } };
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
}

test('[C4] run --once reports that it was stopped before all was done, and exits with 1', async () => {
  await using place = await sandboxServer.open();
  await createSources(place.access.url, 50);
  const io = memoryIo();
  const args = ['run', '--once', '--kubeconfig', place.kubeconfigPath, '--max-writes-per-second', '20'];
  const ended = runProgram(args, io);
  await waitFor(() => io.err().includes('companion created'));
  io.stop();
  expect(await ended).toBe(1);
  expect(io.err()).toContain('stopped before all was done');
  expect(io.err()).not.toContain('all done');
});

/** A sandbox behind a fault proxy, and `run` against it. */
async function runBehindProxy(flags: readonly string[], env = {}) {
  const place = await sandboxServer.open();
  const proxy = await startFaultProxy({ upstream: place.access, tls: false });
  const kubeconfig = join(folder, randomUUID());
  writeFileSync(kubeconfig, proxy.kubeconfig());
  const io = memoryIo(env);
  const lines = () =>
    io
      .err()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    io,
    proxy,
    lines,
    createSources: (count: number) => createSources(place.access.url, count),
    start: () => runProgram(['run', '--kubeconfig', kubeconfig, '--http-address=', ...flags], io),
    [Symbol.asyncDispose]: async () => {
      await proxy.stop();
      await place[Symbol.asyncDispose]();
    },
  };
}

const isSynced = ({ msg }: Record<string, unknown>) => /synced/.test(String(msg));

test('[W3] run waits for a reachable server that is not ready, says so, and then mirrors', async () => {
  await using behind = await runBehindProxy([]);
  const { io, proxy, lines, start } = behind;
  const match = { path: /limit=1(&|$)/ };
  proxy.inject({ match, fault: { kind: 'status', code: 429 }, times: 1 });
  proxy.inject({ match, fault: { kind: 'reset' }, times: 1 });
  proxy.inject({ match, fault: { kind: 'status', code: 503 }, times: 1 });
  const ended = start();
  await waitFor(() => lines().some(isSynced), { deadlineMs: 20_000, describe: io.err });
  const notReady = lines().filter(({ msg }) => msg === 'the API server is not ready; retrying');
  expect(notReady).toHaveLength(3);
  expect(lines().filter(({ msg }) => msg === 'resolved')).toHaveLength(1);
  for (const line of notReady) expect(line).toMatchObject({ level: 'warn', error: expect.any(String) });
  io.stop();
  expect(await ended).toBe(0);
});

test('[W3] a stop ends the wait for a server that is not ready at once', async () => {
  await using behind = await runBehindProxy([]);
  const { io, proxy, lines, start } = behind;
  proxy.inject({ fault: { kind: 'status', code: 503, retryAfterSeconds: 600 } });
  const ended = start();
  await waitFor(() => lines().length > 0, { describe: io.err });
  expect(lines()[0]).toMatchObject({ msg: 'the API server is not ready; retrying', retryInMs: 30_000 });
  io.stop();
  expect(await ended).toBe(0);
});

test('[W3] [C4] run --once gives up on a server that is not ready', async () => {
  await using behind = await runBehindProxy(['--once']);
  const { io, proxy, start } = behind;
  proxy.inject({ fault: { kind: 'status', code: 503 }, times: 1 });
  expect(await start()).toBe(1);
  expect(io.err()).toContain('answered 503');
});

test('[C4] [L1] run --dry-run takes part in no election', async () => {
  const election = ['--leader-elect', '--leader-elect-lease-namespace', 'default'];
  await using behind = await runBehindProxy(['--dry-run', ...election]);
  const { io, proxy, lines, start } = behind;
  const ended = start();
  await waitFor(() => lines().some(isSynced), { describe: io.err });
  io.stop();
  expect(await ended).toBe(0);
  expect(proxy.requests.filter(({ path }) => path.includes('/leases'))).toEqual([]);
});

test('[L3] [L4] [Q3] writes without an answer delay no renewal, and a stop aborts them before it releases the Lease', async () => {
  const times = ['--leader-elect-lease-duration=3s', '--leader-elect-renew-deadline=2s'];
  const election = ['--leader-elect', '--leader-elect-lease-namespace=default', ...times];
  await using behind = await runBehindProxy([...election, '--leader-elect-retry-period=100ms']);
  const { io, proxy, lines, start } = behind;
  const writes = { method: ['POST', 'PATCH', 'DELETE'], path: /configmaps/ };
  const hanging = proxy.inject({ match: writes, fault: { kind: 'no-answer' } });
  await behind.createSources(100);
  const ended = start();
  await waitFor(() => hanging.hits() >= 100, { deadlineMs: 20_000, describe: io.err });
  const renewals = () => proxy.requests.filter(({ method }) => method === 'PUT').length;
  const before = renewals();
  await waitFor(() => renewals() >= before + 30, { deadlineMs: 20_000, describe: io.err });
  expect(lines().filter(({ msg }) => String(msg).startsWith('lost the Lease'))).toEqual([]);
  io.stop();
  expect(await ended).toBe(0);
  expect(lines().slice(-2)).toMatchObject([{ msg: 'released the Lease' }, { msg: 'stopped' }]);
});

test.each([[[]], [['--namespaces', 'default,missing']]])(
  '[W1] %j: every request for ConfigMaps has the label selector, the first included',
  async (flags) => {
    await using behind = await runBehindProxy(flags);
    const { io, proxy, lines, start } = behind;
    const ended = start();
    await waitFor(() => lines().some(isSynced), { describe: io.err });
    io.stop();
    expect(await ended).toBe(0);
    const forConfigMaps = proxy.requests.filter(({ path }) => path.includes('/configmaps'));
    expect(forConfigMaps.length).toBeGreaterThan(1);
    for (const { path } of forConfigMaps) expect(path).toContain('labelSelector=workshop.io%2Fmanaged');
  },
);

test('[O5] a namespace of --namespaces that does not exist is a warning, an unreadable one is not', async () => {
  await using behind = await runBehindProxy(['--namespaces', 'default,missing,hidden']);
  const { io, proxy, lines, start } = behind;
  const path = /^\/api\/v1\/namespaces\/hidden$/;
  proxy.inject({ match: { path }, fault: { kind: 'status', code: 403 } });
  const ended = start();
  await waitFor(() => lines().some(isSynced), { describe: io.err });
  io.stop();
  expect(await ended).toBe(0);
  const warnings = lines().filter(({ level }) => level === 'warn');
  expect(warnings).toMatchObject([{ namespace: 'missing', msg: expect.stringContaining('--namespaces') }]);
});

test('[R13] an unknown MIRROR_* variable is a warning in the log', async () => {
  await using behind = await runBehindProxy(['--once'], { MIRROR_DRYRUN: 'true' });
  expect(await behind.start()).toBe(0);
  expect(behind.lines()[0]).toMatchObject({
    level: 'warn',
    msg: 'environment variable ignored',
    reason: expect.stringContaining('did you mean MIRROR_DRY_RUN?'),
  });
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
  const ended = runProgram(['run', '--kubeconfig', kubeconfig, '--http-address='], io).then((result) => {
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
