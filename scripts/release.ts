/**
 * `npm run release`: makes in `release/` what a release consists of, from a clean checkout after
 * `npm ci`: the npm tarball, an SBOM of what is in it, and SHA256SUMS. The same commit gives the
 * same bytes with the same Node and npm (docs/adr/0006-the-tarball-is-the-bundle.md).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };
import { bundle } from './bundle.ts';
import { type Commit, type Sbom, sbomOfBundle } from './sbom.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const RELEASE = join(ROOT, 'release');

const output = (program: string, args: readonly string[], cwd = ROOT) =>
  execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

function commit(): Commit {
  const [hash = '', seconds] = output('git', ['log', '-1', '--format=%H %ct']).trim().split(' ');
  return { hash, time: new Date(Number(seconds) * 1000) };
}

/**
 * Packs the folder `staged` into a tarball. Resolves to the packages in the bundle, as
 * `name@version`.
 */
async function pack(staged: string): Promise<ReadonlySet<string>> {
  const folders = await bundle({ outfile: join(staged, 'dist/mirror-controller.js') });
  for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(ROOT, file), join(staged, file));
  // What is for those who build it. The bundle needs no package.
  const { scripts: _s, dependencies: _d, devDependencies: _v, overrides: _o, ...published } = packageJson;
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  output('npm', ['pack', '--pack-destination', RELEASE, '--loglevel=error'], staged);
  return new Set(folders.map(nameAndVersion));
}

function nameAndVersion(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
  };
  return `${name}@${version}`;
}

function writeSbom(bundled: ReadonlySet<string>): void {
  // Not `--omit=dev`: it also omits what a development dependency has as an optional peer, such as
  // prom-client's @opentelemetry/api (npm 11.19).
  const flags = ['--sbom-format=cyclonedx', '--sbom-type=application', '--loglevel=error'];
  const installed = JSON.parse(output('npm', ['sbom', ...flags])) as Sbom;
  const sbom = sbomOfBundle(installed, packageJson.name, bundled, commit());
  const file = `${packageJson.name}-${packageJson.version}.cdx.json`;
  writeFileSync(join(RELEASE, file), `${JSON.stringify(sbom, null, 2)}\n`);
}

/** As sha256sum(1) writes and checks it. */
function writeChecksums(): void {
  const lines = readdirSync(RELEASE)
    .sort()
    .map((file) => {
      const hash = createHash('sha256').update(readFileSync(join(RELEASE, file)));
      return `${hash.digest('hex')}  ${file}\n`;
    });
  writeFileSync(join(RELEASE, 'SHA256SUMS'), lines.join(''));
}

async function main(): Promise<void> {
  const changes = output('git', ['status', '--porcelain']);
  if (changes !== '') {
    console.error(`A release is made of a commit. Commit or remove these changes first:\n${changes}`);
    process.exitCode = 1;
    return;
  }
  rmSync(RELEASE, { recursive: true, force: true });
  mkdirSync(RELEASE);
  const staged = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    writeSbom(await pack(staged));
  } finally {
    rmSync(staged, { recursive: true });
  }
  writeChecksums();
  console.log(`release/\n${readFileSync(join(RELEASE, 'SHA256SUMS'), 'utf8').trimEnd()}`);
}

await main();
