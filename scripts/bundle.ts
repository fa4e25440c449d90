import { chmodSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { undiciParts } from './undici-parts.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/**
 * esbuild makes `require` calls out of CommonJS packages' own, and an ES module has no `require`.
 */
const BANNER = [
  '#!/usr/bin/env node',
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
].join('\n');

/**
 * The client library does not declare that its modules only define things, so esbuild would keep
 * all of them. Its generated models, of which nothing is used, would be half of the bundle.
 */
const pureModules: Plugin = {
  name: 'pure-modules',
  setup({ onResolve }) {
    const library = fileURLToPath(import.meta.resolve('@kubernetes/client-node'));
    onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: library, sideEffects: false }));
    onResolve({ filter: /^\..*\.js$/ }, ({ path, importer, resolveDir }) =>
      importer.startsWith(dirname(library))
        ? { path: resolve(resolveDir, path), sideEffects: false }
        : undefined,
    );
  },
};

export interface BundleOptions {
  /** The file to write. */
  readonly outfile: string;
  /** Applied before our own. */
  readonly plugins?: readonly Plugin[];
}

/**
 * Bundles the program and its packages into one executable ES module, which starts in a third of
 * the time. Names are not minified, so that stack traces stay readable. Resolves to the folders,
 * from the repository's root, of the packages whose code is in it. Rejects with esbuild's messages.
 */
export async function bundle({ outfile, plugins = [] }: BundleOptions): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [resolve(ROOT, 'src/main.ts')],
    // CommonJS modules are named in the bundle by their path from here, so it must not depend on
    // who builds where.
    absWorkingDir: ROOT,
    metafile: true,
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    banner: { js: BANNER },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'eof',
    plugins: [...plugins, pureModules, undiciParts],
    logLevel: 'warning',
  });
  chmodSync(outfile, 0o755);
  return packageFolders(metafile);
}

function packageFolders({ outputs }: Metafile): readonly string[] {
  const folders = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([path]) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []),
  );
  return [...new Set(folders)].sort();
}
