import type { ConfigMap, ObjectMeta } from '../kube/api/types.ts';
import { parseJsonObject } from '../kube/http/json.ts';
import { LAST_APPLIED } from '../mirror/observe/observed-config-map.ts';
import { rfc3339 } from '../mirror/rfc3339.ts';
import type { WrittenConfigMap, WrittenNamespace } from './manifests.ts';

type Texts = Readonly<Record<string, string>>;

/** What apply merges of a ConfigMap, or of a Namespace, which has no data. */
interface Merged extends Pick<ConfigMap, 'data' | 'binaryData' | 'immutable'> {
  readonly metadata?: Pick<ObjectMeta, 'labels' | 'annotations'>;
}

/**
 * What `kubectl apply` makes of a live object: it sets the entries of the file, removes those that
 * only the last apply had, and leaves all others.
 * @param now the creation time of an object that does not exist yet
 */
export function applied(
  written: WrittenNamespace | WrittenConfigMap,
  live: ConfigMap | undefined,
  now: Date,
): ConfigMap {
  const file: Merged = written;
  const before = lastApplied(live);
  const merge = (entriesOf: (object: Merged) => Texts | undefined): Texts => {
    const removable = entriesOf(before) ?? {};
    const entries = Object.entries((live && entriesOf(live)) ?? {});
    const kept = entries.filter(([key]) => !Object.hasOwn(removable, key));
    return { ...Object.fromEntries(kept), ...entriesOf(file) };
  };
  const server = live?.metadata ?? {
    uid: 'not applied yet',
    resourceVersion: '',
    creationTimestamp: rfc3339(now.getTime()),
  };
  const isImmutable = file.immutable ?? (before.immutable === undefined && live?.immutable === true);
  return {
    metadata: {
      ...server,
      ...written.metadata,
      labels: merge(({ metadata }) => metadata?.labels),
      annotations: merge(({ metadata }) => metadata?.annotations),
    },
    data: merge(({ data }) => data),
    binaryData: merge(({ binaryData }) => binaryData),
    ...(isImmutable && { immutable: true }),
  };
}

/** Empty if there is none: then apply removes nothing. */
function lastApplied(live: ConfigMap | undefined): Merged {
  const text = live?.metadata.annotations?.[LAST_APPLIED];
  return (text === undefined ? undefined : parseJsonObject(text)) ?? {};
}
