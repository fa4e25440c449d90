import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { aborted, systemClock } from '../../clock/clock.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { createSandbox, type Sandbox, servedKinds } from '../../sandbox/sandbox.ts';
import { messageOf, RunError, UsageError } from '../errors.ts';
import type { SANDBOX_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { ProcessIo } from '../io.ts';
import { openController } from '../session/controller-session.ts';
import { loggerFor } from '../session/from-flags.ts';

/** First line of each kubeconfig that we write: no other file is overwritten. */
const OURS = '# Written by mirror-controller sandbox.\n';
/** Time limit (ms) for the answer of a sandbox that may still run. */
const PROBE_MS = 1_000;

/** `mirror-controller sandbox`: an API server in memory, with the controller, until stopped. */
export async function sandbox(flags: FlagValues<typeof SANDBOX_FLAGS>, io: ProcessIo): Promise<void> {
  const log = loggerFor(flags, io);
  if (flags.kubeconfig !== undefined) await refuseTaken(flags.kubeconfig);
  const server = createSandbox({ now: () => new Date(), uid: randomUUID });
  try {
    await server.start(flags.port).catch((error) => {
      const what = `the sandbox cannot listen on port ${flags.port}: ${messageOf(error)}`;
      throw new RunError(`${what}\nChoose another --port, or leave it out.`);
    });
    using kubeconfig =
      flags.kubeconfig === undefined ? temporaryFile(server) : chosenFile(flags.kubeconfig, server);
    const { path } = kubeconfig;
    io.stdout.write(`serves: ${servedKinds().join(', ')}\n`);
    io.stdout.write(`kubeconfig: ${path}\nexport KUBECONFIG=${shellQuoted(path)}\n`);
    if (!flags.controller) return await aborted(io.signal);
    await using session = openController(sandboxCluster(server), flags, log, systemClock);
    await session.controller.run(io.signal);
  } finally {
    await server.stop();
  }
}

/** The sandbox as a cluster: no TLS and no credential, because it listens on loopback only. */
export function sandboxCluster(server: Sandbox): Cluster {
  return { server: server.url, context: 'sandbox' };
}

/** @throws UsageError if the file is somebody else's, or that of a sandbox that still runs. */
async function refuseTaken(file: string): Promise<void> {
  const text = ifThere(file);
  if (text === undefined) return;
  if (!text.startsWith(OURS)) {
    const problem = 'the file exists and was not written by this command, so it stays; choose another';
    throw new UsageError(`--kubeconfig ${file}: ${problem}`);
  }
  const server = serverIn(text);
  if (server !== undefined && (await answers(server))) {
    const problem = `the sandbox at ${server} uses the file; stop it, or choose another`;
    throw new UsageError(`--kubeconfig ${file}: ${problem}`);
  }
}

/** The text of the file; undefined: there is none. */
function ifThere(file: string): string | undefined {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  } catch (error) {
    throw new UsageError(`--kubeconfig ${file}: ${messageOf(error)}`);
  }
}

function serverIn(kubeconfig: string | undefined): string | undefined {
  return /server: (\S+)/.exec(kubeconfig ?? '')?.[1];
}

function answers(server: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  return fetch(`${server}/readyz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Dispose of it to remove the file. */
interface Kubeconfig extends Disposable {
  readonly path: string;
}

/** The file that the user names. At the end it stays if it is another server's by then. */
function chosenFile(file: string, server: Sandbox): Kubeconfig {
  const path = resolve(file);
  try {
    write(path, server);
  } catch (error) {
    throw new UsageError(`--kubeconfig ${file}: ${messageOf(error)}`);
  }
  const remove = () => {
    if (serverIn(ifThere(path)) === server.url) rmSync(path);
  };
  return { path, [Symbol.dispose]: remove };
}

/** A file in a temporary folder, which goes with it. */
function temporaryFile(server: Sandbox): Kubeconfig {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'mirror-controller-'));
    const path = join(folder, 'kubeconfig');
    write(path, server);
    return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  } catch (error) {
    throw new RunError(
      `cannot write a temporary kubeconfig: ${messageOf(error)}\nGive --kubeconfig FILE, or set TMPDIR.`,
    );
  }
}

function write(path: string, server: Sandbox): void {
  writeFileSync(path, OURS + server.kubeconfig(), { mode: 0o600 });
}

function shellQuoted(path: string): string {
  return /^[-\w./]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
