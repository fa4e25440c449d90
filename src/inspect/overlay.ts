import {
  type ConfigMapIndex,
  configMapIndexers,
  type NamespaceLister,
} from '../controller/reconcile/cluster-view.ts';
import { IndexedMap } from '../informer/indexed-map.ts';
import type { Lister } from '../informer/lister.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../kube/api/types.ts';
import { type ObservedConfigMap, observe } from '../mirror/observe/observed-config-map.ts';
import { type ObservedNamespace, observeNamespace } from '../mirror/observe/observed-namespace.ts';
import { isInScope } from '../mirror/plan/placement.ts';
import type { MirrorSettings } from '../mirror/plan/view.ts';
import { type Vocabulary, WATCHED } from '../mirror/vocabulary.ts';
import { applied } from './applied.ts';
import type { Manifests, WrittenNamespace } from './manifests.ts';

type ConfigMapLister = Pick<Lister<ObservedConfigMap, ConfigMapIndex>, 'get' | 'byIndex' | 'values'>;

export interface Overlaid {
  readonly configMaps: ConfigMapLister;
  readonly namespaces: NamespaceLister;
  /** The ConfigMaps of the manifests, with their data. */
  readonly bodies: ReadonlyMap<ObjectKey, ConfigMap>;
}

export interface OverlayDeps {
  readonly settings: MirrorSettings;
  readonly configMaps: ConfigMapLister;
  readonly namespaces: NamespaceLister;
  readonly read: (key: ObjectKey) => Promise<ConfigMap | undefined>;
  readonly readNamespace: (name: string) => Promise<Namespace | undefined>;
  /** The creation time of what does not exist yet. */
  readonly now: Date;
}

/**
 * The caches as if `kubectl apply` had applied `manifests`. What `run` would not look at is left
 * out (SPEC P2).
 */
export async function overlaid(manifests: Manifests, deps: OverlayDeps): Promise<Overlaid> {
  if (manifests.configMaps.size === 0 && manifests.namespaces.size === 0) {
    return { configMaps: deps.configMaps, namespaces: deps.namespaces, bodies: new Map() };
  }
  const { vocabulary, bounds } = deps.settings;
  const bodies = new Map<ObjectKey, ConfigMap>();
  for (const [key, written] of manifests.configMaps) {
    if (!isInScope(written.metadata.namespace, bounds)) continue;
    bodies.set(key, applied(written, await deps.read(key), deps.now));
  }
  const configMaps = new IndexedMap(configMapIndexers(deps.settings));
  for (const object of deps.configMaps.values()) configMaps.set(object);
  for (const [key, body] of bodies) {
    if (isWatched(body, vocabulary)) configMaps.set(observe(body, vocabulary));
    else configMaps.delete(key);
  }
  const namespaces = new Map<ObjectKey, ObservedNamespace>();
  for (const [name, written] of manifests.namespaces) {
    if (!isInScope(name, bounds)) continue;
    const observed = observeNamespace(
      applied(named(written), await deps.readNamespace(name), deps.now),
      vocabulary,
    );
    namespaces.set(observed.key, observed);
  }
  return { configMaps, namespaces: withNamespaces(namespaces, deps.namespaces), bodies };
}

/** The label that the API server gives each Namespace. */
function named({ metadata }: WrittenNamespace): WrittenNamespace {
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  return { metadata: { ...metadata, labels } };
}

/** Whether the watch would show it (SPEC W1). */
function isWatched({ metadata: { labels } }: ConfigMap, vocabulary: Vocabulary): boolean {
  return WATCHED.includes(labels?.[vocabulary.managed] ?? '');
}

/** Looks the live ones up each time: they may not be listed yet. */
function withNamespaces(
  written: ReadonlyMap<ObjectKey, ObservedNamespace>,
  live: NamespaceLister,
): NamespaceLister {
  return {
    get: (key) => written.get(key) ?? live.get(key),
    *values() {
      for (const namespace of live.values()) if (!written.has(namespace.key)) yield namespace;
      yield* written.values();
    },
  };
}
