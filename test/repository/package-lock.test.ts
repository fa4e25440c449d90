import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { completed, type LockFile, missingOptionalPackages } from '../../scripts/lock-file.ts';

describe('package-lock.json', () => {
  const lock = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  ) as LockFile;

  it('names no registry and no local folder, so that npm ci works everywhere', () => {
    const tied = Object.entries(lock.packages).filter(
      ([, locked]) => locked.resolved !== undefined || locked.link,
    );
    expect(tied.map(([path]) => path)).toEqual([]);
  });

  it('has the packages of all platforms (if not: `npm run complete-lock-file`)', () => {
    expect(missingOptionalPackages(lock).map(({ name }) => name)).toEqual([]);
  });

  it('has this version', () => {
    expect(lock.version).toBe(packageJson.version);
  });

  it('has one undici: a second one would have its own pools', () => {
    const copies = Object.keys(lock.packages).filter((path) => path.endsWith('node_modules/undici'));
    expect(copies).toEqual(['node_modules/undici']);
  });
});

describe('completing a lock file', () => {
  const parent = (optionalDependencies: Readonly<Record<string, string>>): LockFile => ({
    version: '1.0.0',
    packages: {
      '': { version: '1.0.0' },
      'node_modules/tool': { version: '2.0.0', dev: true, engines: { node: '>=20' }, optionalDependencies },
      'node_modules/tool/node_modules/@tool/linux-x64-gnu': { version: '2.0.0' },
      'node_modules/zebra': { version: '3.0.0' },
    },
  });

  const platforms = [
    { name: '@tool/cli-darwin-arm64', entry: { os: ['darwin'], cpu: ['arm64'] } },
    { name: '@tool/cli-linux-x64-musl', entry: { os: ['linux'], cpu: ['x64'], libc: ['musl'] } },
    { name: '@tool/linux-arm-gnueabihf', entry: { os: ['linux'], cpu: ['arm'], libc: ['glibc'] } },
    { name: '@tool/binding-win32-ia32-msvc', entry: { os: ['win32'], cpu: ['ia32'] } },
  ];
  it.each(platforms)('derives the platform from the name $name', ({ name, entry }) => {
    const lock = parent({ [name]: '2.0.0' });
    const { lockFile, added } = completed(lock);
    expect(added).toEqual([`node_modules/${name}`]);
    expect(lockFile.packages).toEqual({
      ...lock.packages,
      [`node_modules/${name}`]: {
        version: '2.0.0',
        dev: true,
        optional: true,
        engines: { node: '>=20' },
        ...entry,
      },
    });
    expect(missingOptionalPackages(lockFile)).toEqual([]);
  });

  it('keeps npm’s order and the existing entries', () => {
    const { lockFile, added } = completed(
      parent({ '@tool/linux-x64-gnu': '2.0.0', 'a-darwin-x64': '2.0.0' }),
    );
    expect(added).toEqual(['node_modules/a-darwin-x64']);
    expect(Object.keys(lockFile.packages)[1]).toBe('node_modules/a-darwin-x64');
  });

  it.each([{ 'a-thing': '2.0.0' }, { 'a-darwin-x64': '^2.0.0' }])('does not guess: %o', (dependencies) => {
    expect(() => completed(parent(dependencies))).toThrow('is not in the lock file');
  });
});
