import type { Look } from '../../inspect/inspection.ts';
import { inNamespace } from '../../inspect/report.ts';
import { type ObjectKey, objectKey, parseKey } from '../../kube/api/object-key.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { isInScope } from '../../mirror/plan/placement.ts';
import { isObjectName } from '../../mirror/request/object-name.ts';
import { ownCommand, RunError, UsageError } from '../errors.ts';
import type { RELEASE_FLAGS, SOURCE_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import type { ProcessIo } from '../io.ts';
import { clusterFor } from './from-flags.ts';
import { inspecting } from './inspection-session.ts';

/** What a command is asked about. Names win over the namespace. */
export interface Scope {
  readonly keys: readonly ObjectKey[];
  /** Undefined: all of them. */
  readonly namespace: string | undefined;
}

/**
 * As kubectl: -A wins over -n, and without them it is the context's namespace.
 * @throws UsageError
 */
export function scopeOf(
  command: string,
  names: readonly string[],
  flags: Pick<FlagValues<typeof RELEASE_FLAGS>, 'namespace' | 'all-namespaces'>,
  cluster: Cluster,
): Scope {
  return {
    keys: names.map((name) => keyNamed(command, name, namespaceOf(flags.namespace, cluster))),
    namespace: flags['all-namespaces'] ? undefined : namespaceOf(flags.namespace, cluster),
  };
}

/**
 * Looks at the cluster for a command that is about one source, and does `work`.
 * @throws UsageError if none is named
 * @throws RunError if there is none of that name
 */
export async function inspectingSource<T>(
  command: string,
  [name]: readonly string[],
  flags: FlagValues<typeof SOURCE_FLAGS>,
  io: ProcessIo,
  work: (source: ObservedConfigMap, look: Look) => Promise<T>,
): Promise<T> {
  if (name === undefined) throw new UsageError(`${command}: name a source, as NAMESPACE/NAME`);
  const cluster = clusterFor(flags, io);
  const key = keyNamed(command, name, namespaceOf(flags.namespace, cluster));
  return inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal);
    return work(sourceAt(key, look), look);
  });
}

/** As kubectl: the flag's, else the context's, else `default`. */
export function namespaceOf(flag: string | undefined, cluster: Cluster): string {
  return flag ?? cluster.namespace ?? 'default';
}

/**
 * The key that an operand of a command names, with or without its namespace.
 * @throws UsageError if no object can have it
 */
export function keyNamed(command: string, name: string, namespace: string): ObjectKey {
  const key = parseKey(name) ?? (isObjectName(name) ? objectKey(namespace, name) : undefined);
  if (key !== undefined) return key;
  const fix = 'write NAMESPACE/NAME, or NAME alone, in lower case';
  throw new UsageError(`${command}: "${name}" cannot be a name; ${fix}`);
}

/** To end a sentence about what there is not. */
export function inScope({ keys, namespace }: Scope): string {
  return keys.length > 0 || namespace === undefined ? '' : ` in namespace ${namespace}`;
}

/**
 * @throws RunError if it is a namespace that does not exist or is not looked at, and no source
 *   names it
 */
export async function requireNamespace({ keys, namespace }: Scope, look: Look): Promise<void> {
  if (keys.length > 0 || namespace === undefined) return;
  if (look.entries.some((entry) => inNamespace(entry, namespace))) return;
  if (!isInScope(namespace, look.view.settings.bounds)) {
    const fix = 'choose one of these with -n, or all of them with -A';
    throw new RunError(`namespace ${namespace} is not among --namespaces: ${fix}`);
  }
  if (!(await look.hasNamespace(namespace))) throw new RunError(`namespace ${namespace} does not exist`);
}

/** Of a source that has no companions. */
export function matchesNone(source: ObjectKey, { view }: Look): string {
  const none = view.settings.bounds.namespaces === undefined ? 'no namespace' : 'none of the --namespaces';
  return `${source} matches ${none}`;
}

/** @throws RunError if there is none. */
export function sourceAt(key: ObjectKey, { view }: Look): ObservedConfigMap {
  const source = view.configMap(key);
  if (source?.request !== undefined) return source;
  throw new RunError(`${key} is not a source\nTo see why, run: ${ownCommand('explain', key)}`);
}
