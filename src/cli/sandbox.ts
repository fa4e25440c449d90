import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemClock } from '../clock/clock.ts';
import type { Cluster } from '../kube/cluster.ts';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openController } from './controller-session.ts';
import { RunError, UsageError } from './errors.ts';
import type { FlagValues, SANDBOX_FLAGS } from './flags.ts';
import type { ProcessIo } from './io.ts';
import { loggerFor } from './run.ts';

/** First line of each kubeconfig that we write: only a file that begins so is overwritten or removed. */
const OURS = '# Written by mirror-controller sandbox.\n';

/** `mirror-controller sandbox`: the API server in memory, and the controller on it, until the process is asked to stop. */
export async function sandbox(flags: FlagValues<typeof SANDBOX_FLAGS>, io: ProcessIo): Promise<void> {
  const log = loggerFor(flags, io);
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  const kubeconfig = kubeconfigFile(flags.kubeconfig);
  try {
    await start(server, flags.port);
    kubeconfig.write(server.kubeconfig());
    io.stdout.write(`kubeconfig: ${kubeconfig.path}\nexport KUBECONFIG=${shellQuoted(kubeconfig.path)}\n`);
    if (flags.controller) await mirror(server, flags, log, io.signal);
    else await aborted(io.signal);
  } finally {
    await server.stop();
    kubeconfig.remove();
  }
}

async function start(server: Sandbox, port: number): Promise<void> {
  try {
    await server.start(port);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RunError(
      `the sandbox cannot listen on port ${port}: ${reason}; choose another --port, or none`,
    );
  }
}

async function mirror(
  server: Sandbox,
  flags: FlagValues<typeof SANDBOX_FLAGS>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const requests = new AbortController();
  const { transport, controller } = openController(
    sandboxCluster(server),
    flags,
    log,
    requests.signal,
    systemClock,
  );
  await controller.run(signal);
  requests.abort();
  await transport.close();
}

/** The sandbox as a cluster: no TLS, and no credential, since it listens on loopback only and knows nobody. */
export function sandboxCluster(server: Sandbox): Cluster {
  return { server: server.url, context: 'sandbox' };
}

/** The file to write the kubeconfig to, checked before anything is started; without a path one of our own. */
function kubeconfigFile(path: string | undefined) {
  if (path !== undefined && existsSync(path) && !readFileSync(path, 'utf8').startsWith(OURS)) {
    throw new UsageError(
      `--kubeconfig ${path}: the file exists and is not ours, so it is not overwritten; choose another`,
    );
  }
  const folder = path === undefined ? mkdtempSync(join(tmpdir(), 'mirror-controller-')) : undefined;
  const file = resolve(folder === undefined ? String(path) : join(folder, 'kubeconfig'));
  return {
    path: file,
    write: (text: string) => writeFileSync(file, OURS + text, { mode: 0o600 }),
    remove: () => rmSync(folder ?? file, { recursive: true, force: true }),
  };
}

function shellQuoted(path: string): string {
  return /^[-\w./]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener('abort', () => done(), { once: true }));
}
