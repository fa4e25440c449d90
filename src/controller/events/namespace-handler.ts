import type { Handler } from '../../informer/handler.ts';
import type { Lister } from '../../informer/lister.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';
import { concernedSources, isConcernedByNamespace, targetIndexValues } from '../../mirror/plan/concerns.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { WorkQueue } from '../../workqueue/queue.ts';
import type { Reports } from '../memory/reports.ts';
import type { ConfigMapIndex } from '../reconcile/cluster-view.ts';

export interface NamespaceHandlerDeps {
  readonly view: ClusterView;
  readonly configMaps: Lister<ObservedConfigMap, ConfigMapIndex>;
  readonly queue: Pick<WorkQueue<ObjectKey>, 'add'>;
  readonly reports: Pick<Reports, 'consent'>;
  /** False until the first list is complete; all that depends on namespaces is queued then. */
  readonly isSynced: () => boolean;
}

/** From a change of a Namespace to the sources whose targets, or whose companions in it, it may concern. */
export function namespaceHandler(deps: NamespaceHandlerDeps): Handler<ObservedNamespace> {
  const { view, configMaps, queue, reports, isSynced } = deps;
  const enqueueTargeting = (
    name: string,
    before: ObservedNamespace | undefined,
    after: ObservedNamespace | undefined,
  ) => {
    const candidates = targetIndexValues(name).flatMap((value) => configMaps.byIndex('targets', value));
    for (const source of candidates) {
      if (isConcernedByNamespace(source, before, after)) queue.add(source.key);
    }
  };
  /** A search, not an index: a Namespace's consent rarely changes, and an index would cost memory for every companion. */
  const enqueueCompanionsIn = (namespace: string) => {
    for (const object of configMaps.values()) {
      if (object.namespace !== namespace) continue;
      for (const key of concernedSources(object, view)) queue.add(key);
    }
  };
  const changed = (before: ObservedNamespace | undefined, after: ObservedNamespace | undefined) => {
    const namespace = after ?? before;
    if (namespace === undefined) return;
    const consent = after?.consent;
    reports.consent(namespace.key, consent?.kind === 'malformed' ? consent.problem : undefined);
    if (!isSynced()) return;
    enqueueTargeting(namespace.name, before, after);
    if (before !== undefined && consentOf(before) !== consentOf(after)) enqueueCompanionsIn(namespace.name);
  };
  return {
    add: (item) => changed(undefined, item),
    update: (old, item) => {
      if (relevantPart(old) !== relevantPart(item)) changed(old, item);
    },
    delete: (item) => changed(item, undefined),
  };
}

/** The API server updates Namespaces for reasons of its own; only these fields are ever looked at. */
function relevantPart(namespace: ObservedNamespace): string {
  return JSON.stringify([namespace.labels, namespace.active, consentOf(namespace)]);
}

/** The annotation alone does not say whether the Namespace can be read. */
function consentOf(namespace: ObservedNamespace | undefined): string {
  return `${namespace?.consent.kind} ${namespace?.acceptMirrorsFrom}`;
}
