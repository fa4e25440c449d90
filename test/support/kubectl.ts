import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';

/** The command to drive: the environment's `KUBECTL`, or the one on PATH. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';

export interface KubectlResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** Standard input. */
  readonly input?: string;
  /** The command that `kubectl edit` runs. */
  readonly editor?: string;
}

export interface RunningKubectl {
  /** What it has printed so far. */
  stdout(): string;
  /** Interrupts it, as Ctrl-C does, and resolves when it has ended. */
  stop(): Promise<void>;
}

export interface Kubectl {
  /** Runs it with these arguments to its end. */
  run(args: readonly string[], options?: KubectlOptions): Promise<KubectlResult>;
  /** Starts a command that does not end by itself. */
  start(args: readonly string[]): RunningKubectl;
  /** Writes a file for `-f` or `--from-file`, and returns its path. */
  file(name: string, content: string | Buffer): string;
}

/** Reports it when there is none, because the tests that need kubectl are skipped then. */
export function hasKubectl(): boolean {
  const isThere = spawnSync(KUBECTL, ['version', '--client']).status === 0;
  if (!isThere) process.stderr.write(`\nSKIPPED: there is no ${KUBECTL} on PATH.\n`);
  return isThere;
}

/**
 * kubectl in the namespace `namespace()` of one server, for the tests of the surrounding
 * `describe`. Its home is a folder of its own, so that it knows nothing else.
 */
export function useKubectl(kubeconfigPath: () => string, namespace: () => string): Kubectl {
  const home = mkdtempSync(join(tmpdir(), 'kubectl-'));
  afterAll(() => rmSync(home, { recursive: true }));
  const settings = (editor = 'false') => ({
    cwd: home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      KUBECONFIG: kubeconfigPath(),
      KUBE_EDITOR: editor,
      KUBECTL_EXTERNAL_DIFF: 'diff -u0 --label before --label after -r',
    },
  });
  const inNamespace = (args: readonly string[]) => ['-n', namespace(), ...args];
  return {
    run: (args, { input = '', editor } = {}) =>
      new Promise((resolve) => {
        const options = { ...settings(editor), timeout: 60_000, maxBuffer: 64 * 1024 * 1024 };
        const child = execFile(KUBECTL, inNamespace(args), options, (error, stdout, stderr) =>
          resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
        );
        child.stdin?.end(input);
      }),
    start: (args) => {
      const child = spawn(KUBECTL, inNamespace(args), settings());
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
      const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
      return {
        stdout: () => printed,
        stop: () => {
          child.kill('SIGINT');
          return ended;
        },
      };
    },
    file: (name, content) => {
      const path = join(home, name);
      writeFileSync(path, content);
      return path;
    },
  };
}
