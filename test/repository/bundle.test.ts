import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { bundle } from '../../scripts/bundle.ts';

const run = promisify(execFile);

describe('the bundle, in a folder of its own', () => {
  let folder: string;
  let program: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mirror-controller-bundle-'));
    program = join(folder, 'mirror-controller.js');
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await bundle({ outfile: program });
  }, 60_000);

  afterAll(() => rm(folder, { recursive: true }));

  it('[C1] starts without packages or sources beside it, and prints its version', async () => {
    const { stdout, stderr } = await run(process.execPath, [program, '--version']);
    expect({ stdout, stderr }).toEqual({ stdout: `${packageJson.version}\n`, stderr: '' });
  });

  it('[C1] lists its commands', async () => {
    const { stdout } = await run(process.execPath, [program, '--help']);
    for (const command of ['run', 'sandbox', 'demo'])
      expect(stdout).toContain(`mirror-controller ${command}`);
  });

  it('[O5] loads the cluster client, including CommonJS packages', async () => {
    const kubeconfig = join(folder, 'no-kubeconfig');
    const running = run(process.execPath, [program, 'run', '--kubeconfig', kubeconfig, '--http-address=']);
    await expect(running).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(kubeconfig) });
  });

  it('[C9] called as kubectl-mirror it offers what kubectl mirror can do', async () => {
    const plugin = join(folder, 'kubectl-mirror');
    await symlink(program, plugin);
    const { stdout, stderr } = await run(plugin, []);
    expect(stderr).toBe('');
    expect([...stdout.matchAll(/^ {2}kubectl mirror (\w+) \S*\s+[A-Z]/gm)].map(([, name]) => name)).toEqual([
      'status',
      'explain',
      'history',
      'undo',
      'plan',
      'release',
    ]);
    const wrong = run(plugin, ['run']);
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^kubectl mirror: /),
    });
  });

  it('is executable', async () => {
    const { mode } = await stat(program);
    expect(mode & 0o111).toBe(0o111);
  });
});
