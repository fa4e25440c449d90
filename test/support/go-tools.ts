import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** `message` says why, without a full stop. */
export class NoToolsError extends Error {
  override readonly name = 'NoToolsError';
}

export interface ToolsEnvironment extends NodeJS.ProcessEnv {
  readonly XDG_CACHE_HOME?: string;
}

export interface GoTools {
  /** Folder of the go.mod whose `tool` lines say what to build. */
  readonly module: string;
  /** What is built, in messages. */
  readonly name: string;
  /** Where in our cache; the module's hash is added. */
  readonly cache: string;
  /** For the linker; default none. */
  readonly linkerFlags?: readonly string[];
  readonly env: ToolsEnvironment;
  /** Told, in one line, of a build that takes minutes. */
  readonly onProgress: (line: string) => void;
}

const run = promisify(execFile);

/**
 * The folder with the executables of a Go module's tools, built when they are not in the user's
 * cache yet. Throws `NoToolsError`.
 */
export async function builtTools(tools: GoTools): Promise<string> {
  const folder = `${join(cacheFolder(tools.env), tools.cache)}-${moduleHash(tools.module)}`;
  if (!existsSync(folder)) await build(folder, tools);
  return folder;
}

/**
 * In the user's cache and not in the checkout, so that a clean checkout does not build for minutes.
 */
function cacheFolder(env: ToolsEnvironment): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mirror-controller');
}

function moduleHash(module: string): string {
  const hash = createHash('sha256');
  for (const name of ['go.mod', 'go.sum']) hash.update(readFileSync(join(module, name), 'utf8'));
  return hash.digest('hex').slice(0, 12);
}

async function build(folder: string, tools: GoTools): Promise<void> {
  const { name, env, onProgress } = tools;
  await run('go', ['version'], { env }).catch(() => {
    throw new NoToolsError(`there is no Go to build ${name} with`);
  });
  onProgress(`building ${name}, once: about 5 minutes on 2 cores`);
  mkdirSync(dirname(folder), { recursive: true });
  // Built beside its place and moved there whole: a build that was interrupted, or a second one,
  // leaves nothing half done.
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    await goBuild(unfinished, tools);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function goBuild(folder: string, tools: GoTools): Promise<void> {
  const { module, name, linkerFlags = [], env } = tools;
  const goFlags = ['build', '-ldflags', ['-s', '-w', ...linkerFlags].join(' '), '-o', folder, 'tool'];
  // Whatever the user's own Go work asks for (a workspace, vendoring) is not for this module.
  const goEnv = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  await run('go', goFlags, { cwd: module, env: goEnv, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: unknown) => {
      const said = (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error);
      throw new NoToolsError(`${name} could not be built with Go (${said})`);
    },
  );
}
