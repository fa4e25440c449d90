import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Cluster, type Context, KubeConfig, type User } from '@kubernetes/client-node';
import { load, YAMLException } from 'js-yaml';
import { KubeConfigError } from '../errors.ts';
import { isMap, malformedField } from './kube-config-types.ts';

/** A user, with the fields that the client library does not read. Paths are absolute. */
export interface KubeConfigUser extends User {
  readonly tokenFile?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

/** One kubeconfig, or several that are merged as kubectl does it. */
export interface KubeConfigFile {
  /** Path or paths, for messages. */
  readonly where: string;
  readonly currentContext: string | undefined;
  readonly contexts: readonly Context[];
  readonly clusters: readonly Cluster[];
  readonly users: readonly KubeConfigUser[];
}

/**
 * Reads one kubeconfig. Relative paths in it are relative to its own folder. Throws
 * `KubeConfigError`.
 */
export function readKubeConfig(path: string): KubeConfigFile {
  const file = resolve(path);
  const text = readText(file);
  const document = parseYaml(text, file);
  const problem = malformedField(document);
  if (problem !== undefined) throw new KubeConfigError(`kubeconfig ${file} is malformed: ${problem}`);
  const library = new KubeConfig();
  // A broken entry matters only if it is used; then it is reported as missing.
  library.loadFromString(text, { onInvalidEntry: 'filter' });
  library.makePathsAbsolute(dirname(file));
  return {
    where: file,
    currentContext: library.getCurrentContext() || undefined,
    contexts: library.getContexts(),
    clusters: library.getClusters(),
    users: library
      .getUsers()
      .map((user) => withAbsolutePaths({ ...rawUser(document, user.name), ...user }, dirname(file))),
  };
}

/**
 * As kubectl does for the list in KUBECONFIG: the first entry of a name is used, and the first
 * current context.
 */
export function mergeKubeConfigs(files: readonly KubeConfigFile[]): KubeConfigFile {
  const firsts = <T extends { readonly name: string }>(entries: readonly T[]): T[] => [
    ...new Map(entries.toReversed().map((entry) => [entry.name, entry])).values(),
  ];
  return {
    where: files.map(({ where }) => where).join(', '),
    currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: firsts(files.flatMap(({ contexts }) => contexts)),
    clusters: firsts(files.flatMap(({ clusters }) => clusters)),
    users: firsts(files.flatMap(({ users }) => users)),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'does not exist',
      EACCES: 'cannot be read by this user',
      EISDIR: 'is a folder',
    };
    const reason = reasons[code ?? ''] ?? `cannot be read (${code})`;
    throw new KubeConfigError(`kubeconfig ${file} ${reason}: check --kubeconfig or KUBECONFIG`);
  }
}

/** The parser's own message is not used: it quotes lines around the fault, perhaps a token. */
function parseYaml(text: string, file: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? '' : ` (line ${error.mark.line + 1})`;
    throw new KubeConfigError(`kubeconfig ${file} is not valid YAML${line}: ${error.reason}`);
  }
  if (!isMap(document)) {
    throw new KubeConfigError(`${file} is not a kubeconfig: it holds no contexts, clusters and users`);
  }
  return document;
}

/** What the document says of the user. */
function rawUser({ users }: Readonly<Record<string, unknown>>, name: string): Partial<KubeConfigUser> {
  if (!Array.isArray(users)) return {};
  const entries = users as readonly ({ name?: unknown; user?: object } | null)[];
  return entries.find((entry) => entry?.name === name)?.user ?? {};
}

/** Paths are relative to the kubeconfig's folder. A command without a slash is on the PATH. */
function withAbsolutePaths(user: KubeConfigUser, folder: string): KubeConfigUser {
  const { tokenFile, exec } = user;
  const command: unknown = exec?.command;
  return {
    ...user,
    ...(tokenFile && { tokenFile: resolve(folder, tokenFile) }),
    ...(typeof command === 'string' &&
      command.includes('/') && { exec: { ...exec, command: resolve(folder, command) } }),
  };
}
