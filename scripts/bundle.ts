import { chmodSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** esbuild makes `require` calls out of CommonJS packages' own, and an ES module has no `require`. */
const BANNER = [
  '#!/usr/bin/env node',
  "import { createRequire as __createRequire } from 'node:module';",
  'const require = __createRequire(import.meta.url);',
].join('\n');

/**
 * The client library does not say that its modules do nothing but define things, so that esbuild would keep all of them.
 * Its generated models, of which nothing is used, are half of the bundle.
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

/**
 * undici's index also loads its fetch, WebSocket, caches and mocks: 8 MiB of memory and 45 ms of processor time at every
 * start. This is what we and the client library use of it, prepared as the index does; `fetch` is called only by
 * what {@link pureModules} leaves out.
 */
const UNDICI_PARTS = `
  import connect from 'undici/lib/api/api-connect.js';
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  Dispatcher.prototype.connect = connect;
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';
  export const fetch = undefined;
`;

const undiciParts: Plugin = {
  name: 'undici-parts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ resolveDir }) => ({
      path: 'undici',
      namespace: 'undici-parts',
      pluginData: resolveDir,
    }));
    onLoad({ filter: /./, namespace: 'undici-parts' }, ({ pluginData }) => ({
      contents: UNDICI_PARTS,
      resolveDir: pluginData,
    }));
  },
};

/**
 * What our packages bring for what we never ask of them: proxies of the client library's own connections (we make ours,
 * `src/kube/connections.ts`, and tell it of no proxy), undici's HTTP/2, which must be asked for, and its bodies of forms,
 * blobs and streams (ours are texts). Together 200 KiB of the bundle and 10 ms of processor time at every start.
 */
const UNREACHED = /^(socks-proxy-agent|socks|hpagent|\.\/client-h2\.js|\.\.\/web\/fetch\/body\.js)$/;

const unreached: Plugin = {
  name: 'unreached',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: UNREACHED }, ({ path }) => ({ path, namespace: 'unreached' }));
    onLoad({ filter: /./, namespace: 'unreached' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * yargs asks how wide a text is on a terminal, emoji and all: to have the tables for that takes 20 ms at every start. What
 * we have it lay out has a column for each character.
 */
const TEXT_WIDTH = `
  import { stripVTControlCharacters } from 'node:util';
  export default (text) => stripVTControlCharacters(text).length;
`;

const textWidth: Plugin = {
  name: 'text-width',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^string-width$/ }, ({ path }) => ({ path, namespace: 'text-width' }));
    onLoad({ filter: /./, namespace: 'text-width' }, () => ({ contents: TEXT_WIDTH }));
  },
};

export interface BundleOptions {
  /** The module to start from; default `src/main.ts`. */
  readonly entryPoint?: string;
  /** The file to write. */
  readonly outfile: string;
}

/**
 * Puts the program and its packages into one executable ES module, which starts in a third of the time that the
 * sources with their node_modules take. Names are not minified: stack traces stay readable, and it costs neither time
 * nor memory (esbuild's `keepNames` costs 12 MB). Rejects with esbuild's messages.
 */
export async function bundle(options: BundleOptions): Promise<void> {
  await build({
    entryPoints: [options.entryPoint ?? fileURLToPath(new URL('../src/main.ts', import.meta.url))],
    outfile: options.outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    banner: { js: BANNER },
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'eof',
    plugins: [pureModules, undiciParts, unreached, textWidth],
    logLevel: 'warning',
  });
  chmodSync(options.outfile, 0o755);
}
