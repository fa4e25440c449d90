import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { SANDBOX_MARK } from '../../sandbox/kubeconfig.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { messageOf, RunError, UsageError } from '../errors.ts';

/** The kubeconfig of a sandbox. Dispose of it to remove the file. */
export interface SandboxKubeconfig extends Disposable {
  readonly path: string;
}

/** Time limit (ms) for the answer of a sandbox that may still run. */
const PROBE_MS = 1_000;

/** @throws UsageError if the file is somebody else's, or that of a sandbox that still runs. */
export async function refuseTaken(file: string): Promise<void> {
  const text = ifThere(file);
  if (text === undefined) return;
  const server = sandboxIn(text);
  if (server === undefined) {
    const problem = 'the file exists and was not written by this command, so it stays; choose another';
    throw new UsageError(`--kubeconfig ${file}: ${problem}`);
  }
  if (await answers(server)) {
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

/**
 * The address of the sandbox that the kubeconfig is for; undefined: the file is somebody else's.
 * kubectl may have rewritten it. With another cluster it holds more than we have written.
 */
function sandboxIn(kubeconfig: string): string | undefined {
  const servers = [...kubeconfig.matchAll(/server: (\S+)/g)].map(([, server]) => server);
  return kubeconfig.includes(SANDBOX_MARK) && servers.length === 1 ? servers[0] : undefined;
}

function answers(server: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_MS);
  return fetch(`${server}/readyz`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Writes it to the file that the user chose, else to a temporary one.
 * @throws UsageError or RunError
 */
export function writeKubeconfig(chosen: string | undefined, server: Sandbox): SandboxKubeconfig {
  return chosen === undefined ? inTemporaryFile(server) : inFile(chosen, server);
}

/** At the end the file stays if it is somebody else's, or another sandbox's, by then. */
function inFile(file: string, server: Sandbox): SandboxKubeconfig {
  const path = resolve(file);
  try {
    write(path, server);
  } catch (error) {
    throw new UsageError(`--kubeconfig ${file}: ${messageOf(error)}`);
  }
  const remove = () => {
    const text = ifThere(path);
    if (text !== undefined && sandboxIn(text) === server.url) rmSync(path);
  };
  return { path, [Symbol.dispose]: remove };
}

/** In a temporary folder, which goes with it. */
function inTemporaryFile(server: Sandbox): SandboxKubeconfig {
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
  writeFileSync(path, server.kubeconfig(), { mode: 0o600 });
}
