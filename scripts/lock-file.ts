/** The parts of package-lock.json (version 3) that we look at. */
export interface LockFile {
  readonly version: string;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const OPERATING_SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const PROCESSORS = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64'];
const C_LIBRARIES: ReadonlyMap<string, string> = new Map([
  ['gnu', 'glibc'],
  ['musl', 'musl'],
  ['musleabihf', 'musl'],
  ['gnueabihf', 'glibc'],
]);

export interface MissingPackage {
  readonly name: string;
  readonly version: string;
  /** The package that asks for it. */
  readonly parent: LockedPackage;
}

/**
 * The optional dependencies that some locked package names and that the lock file itself lacks: npm
 * ci refuses such a file.
 */
export function missingOptionalPackages({ packages }: LockFile): readonly MissingPackage[] {
  return Object.entries(packages).flatMap(([path, parent]) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => !candidatePaths(path, name).some((candidate) => candidate in packages))
      .map(([name, version]) => ({ name, version, parent })),
  );
}

/** The lock file with an entry for each missing optional package. */
export function completed(lock: LockFile): {
  readonly lockFile: LockFile;
  readonly added: readonly string[];
} {
  const entries = missingOptionalPackages(lock).map(
    (missing) => [`node_modules/${missing.name}`, entryOf(missing)] as const,
  );
  const packages = Object.fromEntries(
    [...Object.entries(lock.packages), ...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { lockFile: { ...lock, packages }, added: entries.map(([path]) => path) };
}

/**
 * Where Node looks for `name` from the package at `path`: its own node_modules, then each one
 * above.
 */
function candidatePaths(path: string, name: string): readonly string[] {
  const parents = path
    .split('/node_modules/')
    .map((_, index, parts) => parts.slice(0, index + 1).join('/node_modules/'));
  return [`node_modules/${name}`, ...parents.map((parent) => `${parent}/node_modules/${name}`)];
}

/** Throws when the version is a range, or when the name does not tell the platform. */
function entryOf({ name, version, parent }: MissingPackage): LockedPackage {
  const words = name.split('/').at(-1)?.split('-') ?? [];
  const os = words.filter((word) => OPERATING_SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  if (os.length !== 1 || cpu.length !== 1 || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(
      `${name}@${version} is not in the lock file, and its name and version do not tell what to put there`,
    );
  }
  const libc = words.flatMap((word) => C_LIBRARIES.get(word) ?? []);
  return {
    version,
    cpu,
    ...(parent.dev === undefined ? {} : { dev: parent.dev }),
    ...(libc.length === 0 || os[0] !== 'linux' ? {} : { libc }),
    optional: true,
    os,
    ...(parent.engines === undefined ? {} : { engines: parent.engines }),
  };
}
