import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { LockFile } from '../../scripts/lock-file.ts';
import type { Sbom } from '../../scripts/sbom.ts';
import { inRepository } from './tools.ts';

const run = promisify(execFile);
const TARBALL = `mirror-controller-${packageJson.version}.tgz`;
const SBOM = `mirror-controller-${packageJson.version}.cdx.json`;
/** Nobody's settings of git, and a commit that is the same each time. */
const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, 'somebody'],
      [`GIT_${who}_EMAIL`, 'somebody@example.com'],
      [`GIT_${who}_DATE`, '2026-01-02T03:04:05Z'],
    ]),
  ),
};
const env = { ...process.env, ...GIT };

describe('a release, from a clean checkout', () => {
  const root = mkdtempSync(join(tmpdir(), 'release-'));
  const checkout = join(root, 'checkout');
  const released = (file: string) => join(checkout, 'release', file);
  const sbom = () => JSON.parse(readFileSync(released(SBOM), 'utf8')) as Sbom;

  /** A commit of the files as they are here, committed or not. */
  beforeAll(async () => {
    const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
    const { stdout } = await run('git', list, { cwd: inRepository('') });
    for (const file of stdout.split('\0').filter((name) => name !== '')) {
      cpSync(inRepository(file), join(checkout, file));
    }
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'all'],
    ]) {
      await run('git', args, { cwd: checkout, env });
    }
    await run('npm', ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit'], { cwd: checkout, env });
    await run('npm', ['run', 'release'], { cwd: checkout, env });
  });
  afterAll(() => rmSync(root, { recursive: true }));

  test('its tarball has the program, its licence and its papers, and asks for no packages', async () => {
    const { stdout } = await run('tar', ['-tzf', released(TARBALL)]);
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'package/CHANGELOG.md',
      'package/LICENSE',
      'package/README.md',
      'package/dist/mirror-controller.js',
      'package/package.json',
    ]);
    const manifest = await run('tar', ['-xzOf', released(TARBALL), 'package/package.json']);
    expect(JSON.parse(manifest.stdout)).not.toHaveProperty('dependencies');
  });

  test('npx of the tarball plays the demo in a folder with nothing else, without a registry', async () => {
    const folder = join(root, 'downloaded');
    cpSync(released(TARBALL), join(folder, TARBALL));
    const nowhere = {
      PATH: process.env['PATH'],
      HOME: folder,
      npm_config_cache: join(root, 'cache'),
      // Nobody listens there.
      npm_config_registry: 'http://127.0.0.1:9',
    };
    const args = ['--yes', `./${TARBALL}`, 'demo'];
    const { stdout } = await run('npx', args, { cwd: folder, env: nowhere });
    expect(stdout).toContain('all as expected');
  });

  test('the checksums are those of the files', async () => {
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(checkout, 'release') });
    expect(stdout).toBe(`${SBOM}: OK\n${TARBALL}: OK\n`);
  });

  test('the SBOM names each package that is bundled, as the lock file has it, and no other', async () => {
    const { packages } = JSON.parse(readFileSync(inRepository('package-lock.json'), 'utf8')) as LockFile;
    const locked = Object.entries(packages).map(([path, { version }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
    }));
    const named = sbom().components.map((component) => component['bom-ref']);
    expect(locked.map(({ name, version }) => `${name}@${version}`)).toEqual(expect.arrayContaining(named));
    // The last ones are packages of packages.
    const some = [...Object.keys(packageJson.dependencies), 'openid-client', 'cliui', '@opentelemetry/api'];
    for (const name of some) {
      expect(named).toContainEqual(expect.stringMatching(new RegExp(`^${name}@`)));
    }
    expect(sbom()).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
    for (const component of sbom().components) {
      expect(component).toMatchObject({
        purl: expect.stringMatching(/^pkg:npm\//),
        licenses: expect.anything(),
      });
    }
    // The client library asks for the first, but the bundle does without. The others are tools.
    for (const name of ['form-data', 'esbuild', 'vitest']) {
      expect(named).not.toContainEqual(expect.stringMatching(new RegExp(`^${name}@`)));
    }
  });

  test('the same commit gives the same files, in whichever folder', async () => {
    const other = join(root, 'some/other/name');
    cpSync(checkout, other, { recursive: true, verbatimSymlinks: true });
    rmSync(join(other, 'release'), { recursive: true });
    await run('npm', ['run', 'release'], { cwd: other, env });
    const sums = (folder: string) => readFileSync(join(folder, 'release/SHA256SUMS'), 'utf8');
    expect(sums(other)).toBe(sums(checkout));
    expect(sbom().metadata.timestamp).toBe('2026-01-02T03:04:05.000Z');
  });

  test('a change that is not committed is refused', async () => {
    writeFileSync(join(checkout, 'README.md'), 'nonsense');
    await expect(run('npm', ['run', 'release'], { cwd: checkout, env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('README.md'),
    });
    await run('git', ['checkout', '--', 'README.md'], { cwd: checkout, env });
  });
});
