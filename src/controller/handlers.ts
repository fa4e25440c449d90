import type { Handler } from '../informer/handler.ts';
import type { Lister } from '../informer/lister.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import { type ObservedConfigMap, sourceReference } from '../mirror/observe/observed-config-map.ts';
import type { ObservedNamespace } from '../mirror/observe/observed-namespace.ts';
import {
  concernedOthers,
  concernedSources,
  dependsOnNamespaces,
  isConcernedByNamespace,
  targetIndexValues,
} from '../mirror/plan/concerns.ts';
import type { ClusterView } from '../mirror/plan/view.ts';
import type { DelayingQueue } from '../workqueue/delaying-queue.ts';
import type { Lane, WorkQueue } from '../workqueue/queue.ts';
import type { ConfigMapIndex } from './cluster-view.ts';
import type { Fights } from './fights.ts';
import type { MutationCache } from './mutation-cache.ts';

export interface HandlerDeps {
  readonly view: ClusterView;
  readonly queue: Pick<WorkQueue<ObjectKey>, 'add'>;
  readonly mutations: MutationCache;
  readonly fights: Pick<Fights, 'disturbed'>;
  /** What arrives before the first list is complete is bulk; afterwards somebody may be waiting for it. */
  readonly hasSynced: () => boolean;
  /** Called when something hangs on namespaces. */
  readonly demandNamespaces: () => void;
}

/**
 * From a change of a ConfigMap to the source keys that it concerns. On the way it notes somebody else's change of a
 * companion, since healing it again and again may be a fight (SPEC R14), and asks for the namespaces where they matter.
 */
export function configMapHandler(deps: HandlerDeps): Handler<ObservedConfigMap> {
  const { view, queue, mutations, fights, hasSynced } = deps;
  const { vocabulary } = view.settings;
  const enqueue = (object: ObservedConfigMap, except?: ObjectKey) => {
    if (dependsOnNamespaces(object, vocabulary)) deps.demandNamespaces();
    const lane: Lane = hasSynced() ? 'fresh' : 'bulk';
    for (const key of concernedSources(object, view)) if (key !== except) queue.add(key, lane);
  };
  const disturbed = (before: ObservedConfigMap) => {
    if (sourceReference(before, vocabulary) !== undefined) fights.disturbed(before.key);
  };
  return {
    add: (item) =>
      mutations.attribute({ item, deleted: false }, (own) => {
        if (!own) enqueue(item);
      }),
    // What the old state concerned, too: a source may have lost this companion.
    update: (old, item) =>
      mutations.attribute({ item, deleted: false }, (own) => {
        if (own) return;
        disturbed(old);
        if (concernedOthers(old, item, view)) enqueue(old);
        enqueue(item);
      }),
    // Our own delete frees a name, which is news to all but the source that it was made for.
    delete: (item) =>
      mutations.attribute({ item, deleted: true }, (own) => {
        if (!own) disturbed(item);
        enqueue(item, own ? sourceReference(item, vocabulary) : undefined);
      }),
  };
}

/**
 * So long after a Namespace has come, companions are made in it, milliseconds. The API server's admission may not have
 * seen it yet when we have, and then holds up what is created in it for 50 ms (NamespaceLifecycle, `missingNamespaceWait`):
 * of the first creates on a busy server one in nine, when they wait for 5 ms one in seventy (docs/performance.md).
 */
const NEW_NAMESPACE_MS = 5;

/**
 * From a change of a Namespace to the sources to whose targets, or retained companions, it may matter: found by an
 * index, not by a search.
 */
export function namespaceHandler(deps: {
  readonly view: ClusterView;
  readonly configMaps: Lister<ObservedConfigMap, ConfigMapIndex>;
  readonly queue: Pick<DelayingQueue<ObjectKey>, 'add' | 'addAfter'>;
  /** False until the first list is complete; all that depends on namespaces is enqueued then. */
  readonly areKnown: () => boolean;
}): Handler<ObservedNamespace> {
  const { view, configMaps, queue, areKnown } = deps;
  const enqueueTargeting = (
    name: string,
    before: ObservedNamespace | undefined,
    after: ObservedNamespace | undefined,
  ) => {
    const candidates = targetIndexValues(name).flatMap((value) => configMaps.byIndex('targets', value));
    for (const source of candidates) {
      if (!isConcernedByNamespace(source, before, after)) continue;
      if (before === undefined) queue.addAfter(source.key, NEW_NAMESPACE_MS, 'fresh');
      else queue.add(source.key);
    }
  };
  const enqueueRetainedIn = (name: string) => {
    for (const companion of configMaps.values()) {
      if (companion.namespace !== name || !dependsOnNamespaces(companion, view.settings.vocabulary)) continue;
      for (const key of concernedSources(companion, view)) queue.add(key);
    }
  };
  const changed = (before: ObservedNamespace | undefined, after: ObservedNamespace | undefined) => {
    const name = (after ?? before)?.name;
    if (name === undefined || !areKnown()) return;
    enqueueTargeting(name, before, after);
    if (before?.acceptMirrorsFrom !== after?.acceptMirrorsFrom) enqueueRetainedIn(name);
  };
  return {
    add: (item) => changed(undefined, item),
    update: (old, item) => {
      if (isRelevantChange(old, item)) changed(old, item);
    },
    delete: (item) => changed(item, undefined),
  };
}

/** The API server updates Namespaces for reasons of its own; only these fields are ever asked about. */
function isRelevantChange(old: ObservedNamespace, item: ObservedNamespace): boolean {
  const relevant = ({ labels, active, acceptMirrorsFrom }: ObservedNamespace) =>
    JSON.stringify([labels, active, acceptMirrorsFrom ?? null]);
  return relevant(old) !== relevant(item);
}
