import type { Handler } from '../../informer/handler.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import {
  isValues,
  type ObservedConfigMap,
  sourceReference,
} from '../../mirror/observe/observed-config-map.ts';
import { isRevision } from '../../mirror/observe/revision.ts';
import { concernedOthers, concernedSources, dependsOnNamespaces } from '../../mirror/plan/concerns.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { Vocabulary } from '../../mirror/vocabulary.ts';
import type { Lane } from '../../workqueue/lanes.ts';
import type { WorkQueue } from '../../workqueue/queue.ts';
import type { CompanionMemory } from '../memory/companion-memory.ts';
import type { Listener, Noticed } from '../memory/happening.ts';
import type { SourceVersions } from '../memory/source-versions.ts';
import type { MutationCache } from '../write/mutation-cache.ts';

export interface ConfigMapHandlerDeps {
  readonly view: ClusterView;
  readonly queue: Pick<WorkQueue<ObjectKey>, 'add'>;
  readonly mutations: MutationCache;
  readonly memory: Pick<CompanionMemory, 'disturbed'>;
  readonly versions: Pick<SourceVersions, 'changed'>;
  /** Changes are bulk until the first list is complete, and fresh afterwards. */
  readonly isSynced: () => boolean;
  /** Called when a change can only be decided with the namespaces known. */
  readonly demandNamespaces: () => void;
  readonly emit: Listener;
}

/**
 * Queues the sources that a changed ConfigMap concerns. It also records that another client changed
 * a companion, because healing it again and again may be a fight (SPEC R14).
 */
export function configMapHandler(deps: ConfigMapHandlerDeps): Handler<ObservedConfigMap> {
  const { view, queue, mutations, memory, versions, isSynced, emit } = deps;
  const { vocabulary } = view.settings;
  const demandFor = (object: ObservedConfigMap) => {
    if (dependsOnNamespaces(object, vocabulary)) deps.demandNamespaces();
  };
  const enqueue = (object: ObservedConfigMap, except?: ObjectKey) => {
    const isNoticed = isSynced() && !isRevision(object, vocabulary);
    demandFor(object);
    const lane: Lane = isSynced() ? 'fresh' : 'bulk';
    const cause = causeOf(object, vocabulary);
    for (const key of concernedSources(object, view)) {
      if (key === except) continue;
      if (isNoticed) emit({ type: 'noticed', source: key, cause });
      queue.add(key, lane);
    }
  };
  const disturbed = (before: ObservedConfigMap) => {
    // Who deletes a companion disturbs it, not who ends the finalizer that holds it (SPEC R14).
    if (before.deleting) return;
    const source = isRevision(before, vocabulary) ? undefined : sourceReference(before, vocabulary);
    if (source !== undefined) memory.disturbed(source, before.key);
  };
  return {
    add: (item) =>
      mutations.observe({ object: item, deleted: false }, (own) => {
        if (!own) enqueue(item);
      }),
    // The old state may concern other sources: one may have lost this companion.
    update: (old, item) =>
      mutations.observe({ object: item, deleted: false }, (own) => {
        // Our own write may have marked it as held.
        if (own) return demandFor(item);
        versions.changed(old, item);
        disturbed(old);
        if (concernedOthers(old, item, view)) enqueue(old);
        enqueue(item);
      }),
    // Our own delete frees a name. That concerns every source but the one that we deleted it for.
    delete: (item) =>
      mutations.observe({ object: item, deleted: true }, (own) => {
        if (!own) disturbed(item);
        enqueue(item, own ? sourceReference(item, vocabulary) : undefined);
      }),
    // The restored server may never have seen our writes. Every object now arrives as an update.
    historyRestarted: () => mutations.clear(),
  };
}

function causeOf(object: ObservedConfigMap, vocabulary: Vocabulary): Noticed['cause'] {
  return object.request !== undefined || isValues(object, vocabulary) ? 'edit' : 'heal';
}
