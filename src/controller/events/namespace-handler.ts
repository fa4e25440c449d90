import type { Handler } from '../../informer/handler.ts';
import type { Lister } from '../../informer/lister.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, sourceReference } from '../../mirror/observe/observed-config-map.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';
import {
  concernedSources,
  isConcernedByNamespace,
  saidConsent,
  targetIndexValues,
} from '../../mirror/plan/concerns.ts';
import { waveOn } from '../../mirror/plan/removal.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { WorkQueue } from '../../workqueue/queue.ts';
import type { Listener } from '../memory/happening.ts';
import type { Reports } from '../memory/reports.ts';
import type { ConfigMapIndex } from '../reconcile/cluster-view.ts';
import type { OccupiedNamespaces } from './occupied-namespaces.ts';

export interface NamespaceHandlerDeps {
  readonly view: ClusterView;
  readonly configMaps: Lister<ObservedConfigMap, ConfigMapIndex>;
  readonly occupied: Pick<OccupiedNamespaces, 'has'>;
  readonly queue: Pick<WorkQueue<ObjectKey>, 'add'>;
  readonly reports: Pick<Reports, 'consent'>;
  /** Nothing is queued until the first list is complete; then everything that depends on it is. */
  readonly isSynced: () => boolean;
  readonly emit: Listener;
}

/** Queues the sources that may target a changed Namespace, or have companions in it. */
export function namespaceHandler(deps: NamespaceHandlerDeps): Handler<ObservedNamespace> {
  const { view, configMaps, occupied, queue, reports, isSynced, emit } = deps;
  const enqueue = (key: ObjectKey) => {
    emit({ type: 'noticed', source: key, cause: 'namespace' });
    queue.add(key);
  };
  const enqueueTargeting = (
    name: string,
    before: ObservedNamespace | undefined,
    after: ObservedNamespace | undefined,
  ) => {
    const candidates = targetIndexValues(name).flatMap((value) => configMaps.byIndex('targets', value));
    for (const source of candidates) {
      if (isConcernedByNamespace(source, before, after)) enqueue(source.key);
    }
  };
  /** A search, since consent rarely changes. A new namespace is nearly always empty. */
  const enqueueCompanionsIn = (namespace: string) => {
    if (!occupied.has(namespace)) return;
    for (const object of configMaps.values()) {
      if (object.namespace !== namespace) continue;
      for (const key of concernedSources(object, view)) enqueue(key);
    }
  };
  /** A search, too: held deletions are rarely allowed. */
  const enqueueHeldFrom = (namespace: string) => {
    const { vocabulary } = view.settings;
    for (const { key } of configMaps.values()) {
      // A mark that was just written may not be in the cache yet.
      const object = view.configMap(key);
      const source = object && waveOn(object, vocabulary) && sourceReference(object, vocabulary);
      if (source && splitKey(source).namespace === namespace) enqueue(source);
    }
  };
  const changed = (before: ObservedNamespace | undefined, after: ObservedNamespace | undefined) => {
    const namespace = after ?? before;
    if (namespace === undefined) return;
    const consent = after?.consent;
    reports.consent(namespace.key, consent?.kind === 'malformed' ? consent.problem : undefined);
    if (!isSynced()) return;
    enqueueTargeting(namespace.name, before, after);
    // When a Namespace is gone, so are the companions in it.
    if (after && saidConsent(before) !== saidConsent(after)) enqueueCompanionsIn(namespace.name);
    if (before?.allowDeletes !== after?.allowDeletes) enqueueHeldFrom(namespace.name);
  };
  return {
    add: (item) => changed(undefined, item),
    update: (old, item) => {
      if (relevantPart(old) !== relevantPart(item)) changed(old, item);
    },
    delete: (item) => changed(item, undefined),
  };
}

/** The fields that decisions depend on. Namespaces often change in others. */
function relevantPart(namespace: ObservedNamespace): string {
  return JSON.stringify([namespace.labels, namespace.active, saidConsent(namespace), namespace.allowDeletes]);
}
