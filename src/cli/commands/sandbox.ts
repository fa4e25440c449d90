import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { aborted, systemClock } from '../../clock/clock.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { createSandbox, type Sandbox, servedKinds } from '../../sandbox/sandbox.ts';
import { messageOf, RunError, UsageError } from '../errors.ts';
import type { SANDBOX_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { ProcessIo } from '../io.ts';
import { openController } from '../session/controller-session.ts';
import { loggerFor } from '../session/from-flags.ts';

/** First line of each kubeconfig that we write: no other file is overwritten or removed. */
const OURS = '# Written by mirror-controller sandbox.\n';

/** `mirror-controller sandbox`: an API server in memory, with the controller, until stopped. */
export async function sandbox(flags: FlagValues<typeof SANDBOX_FLAGS>, io: ProcessIo): Promise<void> {
  const log = loggerFor(flags, io);
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  const kubeconfig = flags.kubeconfig === undefined ? temporaryFile() : chosenFile(flags.kubeconfig);
  try {
    await server.start(flags.port).catch((error) => {
      const what = `the sandbox cannot listen on port ${flags.port}: ${messageOf(error)}`;
      throw new RunError(`${what}\nChoose another --port, or leave it out.`);
    });
    write(kubeconfig, server.kubeconfig());
    io.stdout.write(`serves: ${servedKinds().join(', ')}\n`);
    io.stdout.write(`kubeconfig: ${kubeconfig}\nexport KUBECONFIG=${shellQuoted(kubeconfig)}\n`);
    if (!flags.controller) return await aborted(io.signal);
    await using session = openController(sandboxCluster(server), flags, log, systemClock);
    await session.controller.run(io.signal);
  } finally {
    await server.stop();
    rmSync(flags.kubeconfig === undefined ? dirname(kubeconfig) : kubeconfig, {
      recursive: true,
      force: true,
    });
  }
}

/** The sandbox as a cluster: no TLS and no credential, because it listens on loopback only. */
export function sandboxCluster(server: Sandbox): Cluster {
  return { server: server.url, context: 'sandbox' };
}

/** The path of the file that the user names. Tried before anything is started. */
function chosenFile(file: string): string {
  const path = resolve(file);
  try {
    if (existsSync(path) && !readFileSync(path, 'utf8').startsWith(OURS)) {
      throw new Error('the file exists and was not written by this command, so it stays; choose another');
    }
    write(path, '');
  } catch (error) {
    throw new UsageError(`--kubeconfig ${file}: ${messageOf(error)}`);
  }
  return path;
}

/** The path of a file in a temporary folder, which is deleted with it. */
function temporaryFile(): string {
  try {
    return join(mkdtempSync(join(tmpdir(), 'mirror-controller-')), 'kubeconfig');
  } catch (error) {
    throw new RunError(
      `cannot write a temporary kubeconfig: ${messageOf(error)}\nGive --kubeconfig FILE, or set TMPDIR.`,
    );
  }
}

function write(path: string, kubeconfig: string): void {
  writeFileSync(path, OURS + kubeconfig, { mode: 0o600 });
}

function shellQuoted(path: string): string {
  return /^[-\w./]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
