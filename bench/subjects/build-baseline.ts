import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MODULE = fileURLToPath(new URL('../baseline/', import.meta.url));
const run = promisify(execFile);

/** Path of the Go controller's executable in the user's cache. Builds it if necessary. */
export async function buildBaseline(env: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE, name)));
  const cache = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const binary = join(cache, 'mirror-controller', 'bench-baseline', hash.digest('hex').slice(0, 12));
  if (existsSync(binary)) return binary;
  mkdirSync(dirname(binary), { recursive: true });
  // Built elsewhere and renamed, so that an interrupted build leaves no broken file in the cache.
  const unfinished = `${binary}.unfinished`;
  const goEnv = { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
  await run('go', ['build', '-ldflags', '-s -w', '-o', unfinished, '.'], { cwd: MODULE, env: goEnv }).catch(
    (error: unknown) => {
      throw new Error('the Go controller in bench/baseline does not build; is Go installed?', {
        cause: error,
      });
    },
  );
  renameSync(unfinished, binary);
  return binary;
}
