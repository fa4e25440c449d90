import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll } from 'vitest';

export interface KubectlResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  /** Runs it with these arguments. `input` is its standard input, `editor` the command of `kubectl edit`. */
  run(
    args: readonly string[],
    options?: { readonly input?: string; readonly editor?: string },
  ): Promise<KubectlResult>;
  /** Writes a file for `-f` or `--from-file`, and gives its path. */
  file(name: string, content: string): string;
}

export const hasKubectl = (): boolean => spawnSync('kubectl', ['version', '--client']).status === 0;

/** kubectl against one server, with a home of its own, for the tests of the surrounding `describe`. */
export function useKubectl(kubeconfigPath: () => string, namespace: string): Kubectl {
  const { PATH = '' }: { readonly PATH?: string } = process.env;
  const home = mkdtempSync(join(tmpdir(), 'kubectl-'));
  afterAll(() => rmSync(home, { recursive: true }));
  return {
    run: (args, { input = '', editor = 'false' } = {}) =>
      new Promise((resolve) => {
        const env = {
          PATH,
          HOME: home,
          KUBECONFIG: kubeconfigPath(),
          KUBE_EDITOR: editor,
          KUBECTL_EXTERNAL_DIFF: 'diff -u0 --label before --label after -r',
        };
        const options = { env, timeout: 60_000, cwd: home };
        const child = execFile('kubectl', ['-n', namespace, ...args], options, (error, stdout, stderr) => {
          resolve({ exitCode: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
        });
        child.stdin?.end(input);
      }),
    file: (name, content) => {
      const path = join(home, name);
      writeFileSync(path, content);
      return path;
    },
  };
}
