import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { aborted, systemClock } from '../clock/clock.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { createSandbox, type Sandbox } from '../sandbox/sandbox.ts';
import type { Logger } from '../telemetry/logger.ts';
import { openController } from './controller-session.ts';
import { messageOf, RunError, UsageError } from './errors.ts';
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
    throw new RunError(
      `the sandbox cannot listen on port ${port}: ${messageOf(error)}; choose another --port, or none`,
    );
  }
}

async function mirror(
  server: Sandbox,
  flags: FlagValues<typeof SANDBOX_FLAGS>,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  await using session = openController(sandboxCluster(server), flags, log, systemClock);
  await session.controller.run(signal);
}

/** The sandbox as a cluster: no TLS, and no credential, since it listens on loopback only and knows nobody. */
export function sandboxCluster(server: Sandbox): Cluster {
  return { server: server.url, context: 'sandbox' };
}

/** A file for the kubeconfig, which is ours from now on. */
interface KubeconfigFile {
  readonly path: string;
  write(text: string): void;
  remove(): void;
}

/** The file to write the kubeconfig to, tried before anything is started; without a path one of our own. */
function kubeconfigFile(path: string | undefined): KubeconfigFile {
  return path === undefined ? temporaryFile() : chosenFile(path);
}

function chosenFile(path: string): KubeconfigFile {
  const file = ownFile(resolve(path));
  try {
    if (existsSync(file.path) && !readFileSync(file.path, 'utf8').startsWith(OURS)) {
      throw new Error('the file exists and is not ours, so it is not overwritten; choose another');
    }
    file.write('');
  } catch (error) {
    throw new UsageError(`--kubeconfig ${path}: ${messageOf(error)}`);
  }
  return file;
}

function temporaryFile(): KubeconfigFile {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'mirror-controller-'));
    return ownFile(join(folder, 'kubeconfig'), folder);
  } catch (error) {
    throw new RunError(
      `no place for a kubeconfig: ${messageOf(error)}; give --kubeconfig FILE, or set TMPDIR`,
    );
  }
}

/** `whole`: what goes with the file. */
function ownFile(path: string, whole = path): KubeconfigFile {
  return {
    path,
    write: (text) => writeFileSync(path, OURS + text, { mode: 0o600 }),
    remove: () => rmSync(whole, { recursive: true, force: true }),
  };
}

function shellQuoted(path: string): string {
  return /^[-\w./]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
