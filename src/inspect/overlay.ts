import {
  type ConfigMapIndex,
  configMapIndexers,
  type NamespaceLister,
} from '../controller/reconcile/cluster-view.ts';
import { IndexedMap } from '../informer/indexed-map.ts';
import type { Lister } from '../informer/lister.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap } from '../kube/api/types.ts';
import { type ObservedConfigMap, observe } from '../mirror/observe/observed-config-map.ts';
import { type ObservedNamespace, observeNamespace } from '../mirror/observe/observed-namespace.ts';
import type { MirrorSettings } from '../mirror/plan/view.ts';
import { type Vocabulary, WATCHED } from '../mirror/vocabulary.ts';
import type { Manifests, WrittenConfigMap, WrittenNamespace } from './manifests.ts';

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
  /** The creation time of what does not exist yet. */
  readonly now: Date;
}

/**
 * The caches as if `manifests` had been applied: each object replaces the one of its name and keeps
 * what only the server can say of it. What `run` would not look at is left out (SPEC P2).
 */
export async function overlaid(manifests: Manifests, deps: OverlayDeps): Promise<Overlaid> {
  if (manifests.configMaps.size === 0 && manifests.namespaces.size === 0) {
    return { configMaps: deps.configMaps, namespaces: deps.namespaces, bodies: new Map() };
  }
  const { vocabulary, bounds } = deps.settings;
  const isInScope = (namespace: string) => bounds.namespaces?.has(namespace) ?? true;
  const bodies = new Map<ObjectKey, ConfigMap>();
  for (const [key, written] of manifests.configMaps) {
    if (!isInScope(written.metadata.namespace)) continue;
    bodies.set(key, applied(written, await deps.read(key), deps.now));
  }
  const configMaps = new IndexedMap(configMapIndexers(deps.settings));
  for (const object of deps.configMaps.values()) configMaps.set(object);
  for (const [key, body] of bodies) {
    if (isWatched(body, vocabulary)) configMaps.set(observe(body, vocabulary));
    else configMaps.delete(key);
  }
  const written = [...manifests.namespaces].filter(([name]) => isInScope(name));
  return { configMaps, namespaces: withNamespaces(new Map(written), deps.namespaces, vocabulary), bodies };
}

function applied(written: WrittenConfigMap, live: ConfigMap | undefined, now: Date): ConfigMap {
  const seconds = `${now.toISOString().slice(0, 19)}Z`;
  const server = live?.metadata ?? {
    uid: 'not applied yet',
    resourceVersion: '',
    creationTimestamp: seconds,
  };
  return { ...written, metadata: { ...server, labels: {}, annotations: {}, ...written.metadata } };
}

/** Whether the watch would show it (SPEC W1). */
function isWatched({ metadata: { labels } }: ConfigMap, vocabulary: Vocabulary): boolean {
  return WATCHED.includes(labels?.[vocabulary.managed] ?? '');
}

/** Looks the live ones up each time: they may not be listed yet. */
function withNamespaces(
  written: ReadonlyMap<string, WrittenNamespace>,
  live: NamespaceLister,
  vocabulary: Vocabulary,
): NamespaceLister {
  const get = (name: string): ObservedNamespace | undefined => {
    const found = live.get(name as ObjectKey);
    const { metadata } = written.get(name) ?? {};
    if (metadata === undefined) return found;
    const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': name };
    const server = { uid: found?.uid ?? '', resourceVersion: found?.resourceVersion ?? '' };
    const observed = observeNamespace({ metadata: { ...metadata, ...server, labels } }, vocabulary);
    return { ...observed, active: found?.active ?? true };
  };
  return {
    get,
    *values() {
      for (const namespace of live.values()) if (!written.has(namespace.name)) yield namespace;
      for (const name of written.keys()) yield get(name) as ObservedNamespace;
    },
  };
}
