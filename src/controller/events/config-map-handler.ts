import type { Handler } from '../../informer/handler.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, sourceReference } from '../../mirror/observe/observed-config-map.ts';
import { concernedOthers, concernedSources, dependsOnNamespaces } from '../../mirror/plan/concerns.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Lane, WorkQueue } from '../../workqueue/queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { MutationCache } from '../write/mutation-cache.ts';

export interface ConfigMapHandlerDeps {
  readonly view: ClusterView;
  readonly queue: Pick<WorkQueue<ObjectKey>, 'add'>;
  readonly mutations: MutationCache;
  readonly memory: Pick<CompanionMemory, 'disturbed'>;
  /** Before the first list is complete, what arrives is bulk; afterwards somebody may be waiting for it. */
  readonly isSynced: () => boolean;
  /** Called when something depends on namespaces. */
  readonly demandNamespaces: () => void;
}

/**
 * From a change of a ConfigMap to the keys of the sources that it concerns. On the way it records that somebody else changed
 * a companion, since healing it again and again may be a fight (SPEC R14), and demands the namespaces where they matter.
 */
export function configMapHandler(deps: ConfigMapHandlerDeps): Handler<ObservedConfigMap> {
  const { view, queue, mutations, memory, isSynced } = deps;
  const { vocabulary } = view.settings;
  const enqueue = (object: ObservedConfigMap, except?: ObjectKey) => {
    if (dependsOnNamespaces(object, vocabulary)) deps.demandNamespaces();
    const lane: Lane = isSynced() ? 'fresh' : 'bulk';
    for (const key of concernedSources(object, view)) if (key !== except) queue.add(key, lane);
  };
  const disturbed = (before: ObservedConfigMap) => {
    const source = sourceReference(before, vocabulary);
    if (source !== undefined) memory.disturbed(source, before.key);
  };
  return {
    add: (item) =>
      mutations.observe({ item, deleted: false }, (own) => {
        if (!own) enqueue(item);
      }),
    // What the old state concerned, too: a source may have lost this companion.
    update: (old, item) =>
      mutations.observe({ item, deleted: false }, (own) => {
        if (own) return;
        disturbed(old);
        if (concernedOthers(old, item, view)) enqueue(old);
        enqueue(item);
      }),
    // Our own delete frees a name, which is news to all but the source that it was made for.
    delete: (item) =>
      mutations.observe({ item, deleted: true }, (own) => {
        if (!own) disturbed(item);
        enqueue(item, own ? sourceReference(item, vocabulary) : undefined);
      }),
    // Every object comes as an update then; what our own writes left behind may never have happened.
    historyRestarted: () => mutations.clear(),
  };
}
