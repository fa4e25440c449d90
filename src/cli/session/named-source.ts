import type { Look } from '../../inspect/inspection.ts';
import { type ObjectKey, objectKey, parseKey } from '../../kube/api/object-key.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { RunError, UsageError } from '../errors.ts';

/**
 * The operand of a command that wants a source.
 * @throws UsageError
 */
export function sourceName(command: string, [name]: readonly string[]): string {
  if (name === undefined) throw new UsageError(`${command}: name a source, as NAMESPACE/NAME`);
  return name;
}

/** `name`: with or without its namespace, which is by default `namespace`, else the context's. */
export function sourceKey(name: string, namespace: string | undefined, cluster: Cluster): ObjectKey {
  return parseKey(name) ?? objectKey(namespace ?? cluster.namespace ?? 'default', name);
}

/** @throws RunError if there is none. */
export function sourceAt(key: ObjectKey, { view }: Look): ObservedConfigMap {
  const source = view.configMap(key);
  if (source?.request !== undefined) return source;
  throw new RunError(`${key} is not a source\nSay why with: $0 explain ${key}`);
}
