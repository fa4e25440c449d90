/**
 * Which room of `src` may import which. A room is a folder or a file; docs/architecture.md explains
 * the order. Circles are not looked for here: Biome's `noImportCycles` reports them, in all of the
 * repository.
 */

/**
 * The rooms of a folder, top first. A room may import from the lines below its own, and rooms of
 * one line never import each other. A folder that has an entry lists everything in it; one without
 * has no order inside.
 */
const ROOMS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  [
    'src',
    [
      ['main.ts'],
      ['v8-flags.ts'],
      ['cli'],
      ['demo', 'inspect', 'notify'],
      ['controller', 'serving'],
      ['informer', 'leaderelection', 'workqueue', 'recorder', 'mirror'],
      ['kube'],
      ['telemetry'],
      ['clock', 'sandbox'],
    ],
  ],
  [
    'src/cli',
    [
      ['program.ts'],
      ['help.ts'],
      ['completion.ts'],
      ['commands'],
      ['session'],
      ['flags'],
      ['errors.ts', 'io.ts', 'version.ts'],
    ],
  ],
  [
    'src/controller',
    [
      ['create-controller.ts', 'event-listener.ts', 'freshness-canary.ts'],
      ['controller.ts', 'informers.ts'],
      ['sources.ts'],
      ['events', 'metrics'],
      ['reconcile'],
      ['write'],
      ['memory'],
    ],
  ],
  [
    'src/mirror',
    [
      ['explain'],
      ['plan'],
      ['rollout'],
      ['companion'],
      ['render'],
      ['observe'],
      ['request'],
      ['did-you-mean.ts', 'parsed.ts', 'rfc3339.ts', 'shell-quoted.ts', 'vocabulary.ts'],
    ],
  ],
  [
    'src/notify',
    [
      ['notifier.ts'],
      ['term.ts'],
      ['tracker.ts', 'sender.ts'],
      ['changed-keys.ts', 'choice.ts', 'problems.ts', 'sink-queue.ts'],
      ['pace.ts', 'report.ts'],
      ['delivery'],
      ['state'],
      ['event-types.ts'],
    ],
  ],
  ['src/kube', [['api'], ['http'], ['config'], ['errors.ts']]],
  [
    'src/sandbox',
    [
      ['sandbox.ts'],
      ['kubeconfig.ts', 'http', 'controllers'],
      ['verbs', 'discovery'],
      ['storage', 'selectors'],
      ['patch'],
      ['kinds'],
      ['schema'],
      ['objects'],
    ],
  ],
]);

/**
 * Rooms that import less than the order allows: these files and packages, and what is inside the
 * room.
 */
const NARROWED: ReadonlyMap<string, readonly string[]> = new Map([
  // Pure rules: no clock, no I/O, no logger.
  ['src/mirror', ['src/kube/api/object-key.ts', 'src/kube/api/types.ts', 'node:crypto']],
]);

/** Rooms and packages that only these rooms import. */
const CONFINED: readonly { readonly what: readonly string[]; readonly to: readonly string[] }[] = [
  // The sandbox shares no code with the controller, so that it cannot share a fault with it either.
  { what: ['src/sandbox'], to: ['src/cli'] },
  { what: ['@kubernetes/client-node'], to: ['src/kube'] },
  { what: ['undici'], to: ['src/kube', 'src/notify'] },
  { what: ['pino', 'pino-pretty', 'prom-client'], to: ['src/telemetry'] },
  { what: ['yargs'], to: ['src/cli'] },
  { what: ['p-queue'], to: ['src/controller'] },
  { what: ['node:process'], to: ['src/main.ts', 'src/v8-flags.ts'] },
  { what: ['node:net'], to: ['src/kube', 'src/notify', 'src/serving', 'src/sandbox'] },
  {
    what: ['node:http', 'node:https', 'node:http2', 'node:tls'],
    to: ['src/kube', 'src/serving', 'src/sandbox'],
  },
];

export interface SourceFile {
  /** From the repository's root, with slashes: `src/mirror/plan.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Every breach of a rule in `files`, one line each: where, what, and which rule. */
export function findBreaches(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) => [
    ...roomsWithoutPlace(path),
    ...specifiersOf(text).flatMap((specifier) => {
      const isFile = specifier.startsWith('.');
      const imported = isFile ? resolve(path, specifier) : specifier;
      const rule =
        narrowed(path, imported) ?? confined(path, imported) ?? (isFile && misplaced(path, imported));
      return rule ? [`${path} imports ${imported}: ${rule}`] : [];
    }),
  ]);
}

/** Every room above that no file is in, and every permission that no import uses: one line each. */
export function findVacancies(files: readonly SourceFile[]): readonly string[] {
  const rooms = [...ROOMS].flatMap(([folder, lines]) => lines.flat().map((name) => `${folder}/${name}`));
  return [
    ...rooms
      .filter((room) => !files.some(({ path }) => isIn(path, room)))
      .map((room) => `${room} does not exist; delete it from scripts/layer-rules.ts`),
    ...CONFINED.flatMap(({ what, to }) =>
      to
        .filter((room) => !files.some((file) => isIn(file.path, room) && importsAny(file, what)))
        .map((room) => `${room} does not import ${what.join(', ')}; delete it from scripts/layer-rules.ts`),
    ),
  ];
}

function importsAny({ path, text }: SourceFile, what: readonly string[]): boolean {
  return specifiersOf(text).some((specifier) => {
    const imported = specifier.startsWith('.') ? resolve(path, specifier) : specifier;
    return what.some((each) => isIn(imported, each));
  });
}

function roomsWithoutPlace(path: string): readonly string[] {
  return [...ROOMS].flatMap(([folder, lines]) => {
    const room = path.slice(folder.length + 1).split('/')[0] ?? '';
    if (!isIn(path, folder) || lineOf(room, lines) !== -1) return [];
    return [`${path}: "${room}" has no place in ${folder}; give it one in scripts/layer-rules.ts`];
  });
}

function narrowed(path: string, imported: string): string | undefined {
  const [room, allowed] = [...NARROWED].find(([name]) => isIn(path, name)) ?? ['', []];
  if (room === '' || isIn(imported, room) || allowed.includes(imported)) return undefined;
  return `${room} imports only ${allowed.join(', ')}`;
}

function confined(path: string, imported: string): string | undefined {
  for (const { what, to } of CONFINED) {
    const name = what.find((each) => isIn(imported, each));
    if (name === undefined || [name, ...to].some((room) => isIn(path, room))) continue;
    return `only ${to.join(', ')} may import ${name}`;
  }
  return undefined;
}

/** The order where the two paths part. */
function misplaced(path: string, imported: string): string | undefined {
  if (imported === 'package.json') return undefined;
  if (!isIn(imported, 'src')) return 'src imports nothing outside src, except package.json';
  const [from, to] = [path.split('/'), imported.split('/')];
  const depth = from.findIndex((name, index) => name !== to[index]);
  const folder = from.slice(0, depth).join('/');
  const [importer = '', target = ''] = [from[depth], to[depth]];
  const lines = ROOMS.get(folder) ?? [];
  const [above, below] = [lineOf(importer, lines), lineOf(target, lines)];
  if (above < below || above === -1 || below === -1) return undefined;
  return above === below
    ? `${target} and ${importer} are siblings in ${folder}`
    : `${target} is above ${importer} in ${folder}`;
}

function lineOf(room: string, lines: readonly (readonly string[])[]): number {
  return lines.findIndex((line) => line.includes(room));
}

/** Whether `path` is `room` or below it; for packages too. */
function isIn(path: string, room: string): boolean {
  return path === room || path.startsWith(`${room}/`);
}

function resolve(importer: string, specifier: string): string {
  return new URL(specifier, `file:///${importer}`).pathname.slice(1);
}

/** What `text` imports, types too, as written. Reads code as Biome formats it. */
function specifiersOf(text: string): readonly string[] {
  const statement = /^(?:import|export)\b(?:[^'";]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
  const call = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
  return [statement, call].flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}
