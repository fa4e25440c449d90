import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { inRepository } from './tools.ts';

const run = promisify(execFile);

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** Without comments, and with continued lines joined. */
function instructions(): readonly Instruction[] {
  const text = readFileSync(inRepository('Dockerfile'), 'utf8').replaceAll(/^#.*\n/gm, '');
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => ({ name: line.replace(/ .*/, ''), value: line.replace(/^\w+ /, '') }));
}

/** What .dockerignore lets into a build. */
const CONTEXT = readFileSync(inRepository('.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1));

/**
 * Does what `docker build` would do, without Docker: each stage is a folder, its RUN lines run here
 * with this machine's Node. Resolves to the last stage's folder.
 */
async function build(root: string): Promise<string> {
  const stages = new Map<string, string>();
  let folder = root;
  let workdir = '';
  for (const { name, value } of instructions()) {
    if (name === 'FROM') {
      const stage = / AS (\w+)$/.exec(value)?.[1] ?? 'last';
      folder = join(root, stage);
      stages.set(stage, folder);
    } else if (name === 'WORKDIR') {
      workdir = value;
      mkdirSync(join(folder, workdir), { recursive: true });
    } else if (name === 'RUN') {
      await run('sh', ['-ec', value], { cwd: join(folder, workdir), maxBuffer: 64 * 1024 * 1024 });
    } else if (name === 'COPY') {
      const [, from, files = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(value) ?? [];
      copy(files.split(' '), join(folder, workdir), from === undefined ? undefined : stages.get(from));
    }
  }
  return join(folder, workdir);
}

/**
 * `stage`: the folder of an earlier one; undefined: the repository, as far as .dockerignore shows
 * it.
 */
function copy(files: readonly string[], workdir: string, stage: string | undefined): void {
  const target = files.at(-1) ?? '';
  for (const source of files.slice(0, -1)) {
    if (stage === undefined) expect(CONTEXT).toContain(source);
    const into = target.endsWith('/') ? join(workdir, target, basename(source)) : join(workdir, target);
    cpSync(stage === undefined ? inRepository(source) : join(stage, source), into, { recursive: true });
  }
}

describe('the image, built without Docker', () => {
  const root = mkdtempSync(join(tmpdir(), 'image-'));
  afterAll(() => rmSync(root, { recursive: true }));

  test('has the bundle alone, and starts with its entry point and command', async () => {
    const app = await build(root);
    expect(readdirSync(app, { recursive: true }).toSorted()).toEqual([
      'LICENSE',
      'dist',
      'dist/mirror-controller.js',
      'package.json',
    ]);
    const [entry, command] = ['ENTRYPOINT', 'CMD'].map((name) => {
      const { value = '[]' } = instructions().find((each) => each.name === name) ?? {};
      return JSON.parse(value) as string[];
    });
    const [, program = ''] = entry ?? [];
    const start = (...args: readonly string[]) =>
      run(process.execPath, [join(root, 'last', program), ...args], { env: { HOME: root } });
    expect((await start('--version')).stdout).toBe(`${packageJson.version}\n`);
    // Neither a Pod nor a kubeconfig: it says so.
    await expect(start(...(command ?? []))).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('kubeconfig'),
    });
  });

  test('has the labels that do not depend on the release', () => {
    const labels = instructions().find(({ name }) => name === 'LABEL')?.value ?? '';
    const named = [...labels.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]+)"/g)];
    expect(named.map(([, name]) => name)).toEqual(['title', 'description', 'licenses']);
    expect(labels).toContain(`licenses="${packageJson.license}"`);
  });

  test('runs as a user that Kubernetes can tell from root', () => {
    const user = instructions().findLast(({ name }) => name === 'USER');
    expect(user?.value).toBe('1000:1000');
  });
});
