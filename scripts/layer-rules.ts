/**
 * Which folder of `src` may import what. Imports point one way: from main down to clock. Whoever adds a folder
 * gives it a place in `LAYERS`; docs/architecture.md explains the order.
 */

/** Lowest first. A folder may import from every layer below its own; folders of one layer never import each other. */
const LAYERS: readonly (readonly string[])[] = [
  ['clock'],
  ['telemetry'],
  ['kube'],
  ['informer', 'workqueue', 'leaderelection', 'mirror'],
  ['controller'],
  ['demo'],
  ['cli'],
  ['v8-flags.ts'],
  ['main.ts'],
];

/** The sandbox stands beside the layers: it cannot share a fault with the controller when it shares no code. */
const SANDBOX = 'sandbox';
const MAY_IMPORT_SANDBOX: readonly string[] = ['demo', 'cli'];

/** Folders that may import less than their layer allows. */
const NARROWED: ReadonlyMap<string, readonly string[]> = new Map([
  // Pure rules: no clock, no I/O, no logger. It sees objects and keys, and computes.
  ['mirror', ['src/kube/api/types.ts', 'src/kube/api/object-key.ts', 'node:crypto']],
]);

/** Packages and modules that only these folders may import. All others are free. */
const CONFINED: readonly { readonly packages: readonly string[]; readonly folders: readonly string[] }[] = [
  { packages: ['@kubernetes/client-node', 'undici'], folders: ['kube'] },
  { packages: ['pino', 'pino-pretty'], folders: ['telemetry'] },
  { packages: ['yargs'], folders: ['cli'] },
  { packages: ['p-queue'], folders: ['workqueue', 'controller'] },
  { packages: ['node:process'], folders: ['cli', 'main.ts', 'v8-flags.ts'] },
  {
    packages: ['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls'],
    folders: ['kube', 'telemetry', 'sandbox'],
  },
];

export interface SourceFile {
  /** From the repository's root, with slashes: `src/mirror/plan.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Every import in `files` that breaks a rule, as one line for a person: where, what, and what holds instead. */
export function findBreaches(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const importer = folderOf(path);
    if (importer !== SANDBOX && layerOf(importer) === undefined) {
      return [`${path}: the folder "${importer}" has no layer; give it one in scripts/layer-rules.ts`];
    }
    return importsOf(text).flatMap((specifier) => {
      const target = specifier.startsWith('.') ? resolve(path, specifier) : specifier;
      const reason = breach(importer, target, specifier.startsWith('.'));
      return reason === undefined ? [] : [`${path} imports ${target}: ${reason}`];
    });
  });
}

function breach(importer: string, target: string, isFile: boolean): string | undefined {
  const narrowed = NARROWED.get(importer);
  if (narrowed !== undefined && !narrowed.includes(target) && !target.startsWith(`src/${importer}/`)) {
    return `${importer} may import only ${narrowed.join(', ')}`;
  }
  if (!isFile) return packageBreach(importer, target);
  if (target.startsWith('src/')) return fileBreach(importer, folderOf(target));
  return target === 'package.json' ? undefined : 'nothing outside src may be imported, except package.json';
}

function fileBreach(importer: string, imported: string): string | undefined {
  if (imported === importer) return undefined;
  if (importer === SANDBOX) return 'the sandbox imports nothing outside its folder';
  if (imported === SANDBOX) {
    return MAY_IMPORT_SANDBOX.includes(importer)
      ? undefined
      : `only ${MAY_IMPORT_SANDBOX.join(', ')} and tests may import the sandbox`;
  }
  const above = layerOf(importer) ?? 0;
  const below = layerOf(imported) ?? Number.POSITIVE_INFINITY;
  if (below < above) return undefined;
  return below === above ? `${importer} and ${imported} are siblings` : `${imported} is above ${importer}`;
}

function packageBreach(importer: string, specifier: string): string | undefined {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  const folders = CONFINED.find(({ packages }) => packages.includes(name))?.folders;
  if (folders === undefined || folders.includes(importer)) return undefined;
  return `only ${folders.join(', ')} may import ${name}`;
}

function layerOf(folder: string): number | undefined {
  const layer = LAYERS.findIndex((folders) => folders.includes(folder));
  return layer === -1 ? undefined : layer;
}

/** The first name below `src`: a folder, or a file such as `main.ts`. */
function folderOf(path: string): string {
  return path.split('/')[1] ?? path;
}

function resolve(importer: string, specifier: string): string {
  return new URL(specifier, `file:///${importer}`).pathname.slice(1);
}

/** What `text` imports, as written: static (types too), re-exported, for its effect, dynamic. Reads code as biome formats it. */
function importsOf(text: string): readonly string[] {
  const statement = /^(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
  const call = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
  return [statement, call].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}
