import type { Look } from '../../inspect/inspection.ts';
import { type ObjectKey, objectKey, parseKey } from '../../kube/api/object-key.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { RunError, UsageError } from '../errors.ts';
import type { RELEASE_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';

/** What a command is asked about. Names win over the namespace. */
export interface Scope {
  readonly keys: readonly ObjectKey[];
  /** Undefined: all of them. */
  readonly namespace: string | undefined;
}

/** As kubectl: -A wins over -n, and without them it is the context's namespace. */
export function scopeOf(
  names: readonly string[],
  flags: Pick<FlagValues<typeof RELEASE_FLAGS>, 'namespace' | 'all-namespaces'>,
  cluster: Cluster,
): Scope {
  return {
    keys: names.map((name) => sourceKey(name, flags.namespace, cluster)),
    namespace: flags['all-namespaces'] ? undefined : namespaceOf(flags.namespace, cluster),
  };
}

/**
 * The operand of a command that wants a source.
 * @throws UsageError
 */
export function sourceName(command: string, [name]: readonly string[]): string {
  if (name === undefined) throw new UsageError(`${command}: name a source, as NAMESPACE/NAME`);
  return name;
}

/** As kubectl: the flag's, else the context's, else `default`. */
export function namespaceOf(flag: string | undefined, cluster: Cluster): string {
  return flag ?? cluster.namespace ?? 'default';
}

/** `name`: with or without its namespace, which is by default that of {@link namespaceOf}. */
export function sourceKey(name: string, flag: string | undefined, cluster: Cluster): ObjectKey {
  return parseKey(name) ?? objectKey(namespaceOf(flag, cluster), name);
}

/** @throws RunError if there is none. */
export function sourceAt(key: ObjectKey, { view }: Look): ObservedConfigMap {
  const source = view.configMap(key);
  if (source?.request !== undefined) return source;
  throw new RunError(`${key} is not a source\nTo see why, run: $0 explain ${key}`);
}
