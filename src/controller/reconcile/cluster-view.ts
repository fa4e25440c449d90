import type { Clock } from '../../clock/clock.ts';
import type { Indexers, Lister } from '../../informer/lister.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { SourceIdentity } from '../../mirror/companion/ownership.ts';
import { type ObservedConfigMap, sourceReference } from '../../mirror/observe/observed-config-map.ts';
import type { ObservedNamespace } from '../../mirror/observe/observed-namespace.ts';
import { isRevision } from '../../mirror/observe/revision.ts';
import { dueAmong } from '../../mirror/plan/brake.ts';
import { claimIndexValues, claimsOf } from '../../mirror/plan/claims.ts';
import { targetIndexValuesOf } from '../../mirror/plan/concerns.ts';
import type { ClusterView, MirrorSettings } from '../../mirror/plan/view.ts';
import { valuesKeys } from '../../mirror/render/values.ts';
import type { Vocabulary } from '../../mirror/vocabulary.ts';
import type { Deletions } from '../memory/deletions.ts';
import type { SourceVersions } from '../memory/source-versions.ts';
import type { MutationCache } from '../write/mutation-cache.ts';
import { RememberedSearch } from './due-deletions.ts';

/** The ways in which the rules look things up. */
export type ConfigMapIndex = 'referrers' | 'revisions' | 'claims' | 'targets' | 'values' | 'origin';

export function configMapIndexers({
  vocabulary,
  brake,
}: MirrorSettings): Indexers<ObservedConfigMap, ConfigMapIndex> {
  return {
    referrers: (object) => {
      if (isRevision(object, vocabulary)) return [];
      const reference = sourceReference(object, vocabulary);
      if (reference !== undefined) return [reference];
      // If the reference was stripped, the uid still leads to the source.
      const uid = object.annotations[vocabulary.sourceUid];
      return uid === undefined ? [] : [uid];
    },
    revisions: (object) => {
      const source = isRevision(object, vocabulary) ? sourceReference(object, vocabulary) : undefined;
      return source === undefined ? [] : [source];
    },
    claims: claimsOf,
    targets: targetIndexValuesOf,
    values: valuesKeys,
    // Only the brake looks there, and the index costs about 30 bytes for each companion.
    origin: (object) => (brake === undefined ? NOWHERE : originOf(object, vocabulary)),
  };
}

const NOWHERE: readonly string[] = [];

/** The namespace of the source that a companion refers to. */
function originOf(object: ObservedConfigMap, vocabulary: Vocabulary): readonly string[] {
  const isCompanion = object.request === undefined && !isRevision(object, vocabulary);
  const reference = isCompanion ? sourceReference(object, vocabulary) : undefined;
  return reference === undefined ? NOWHERE : [splitKey(reference).namespace];
}

/** The part of a lister that the view needs. */
export interface NamespaceLister {
  get(key: ObjectKey): ObservedNamespace | undefined;
  values(): Iterable<ObservedNamespace>;
}

/** The informers' caches, corrected by our own latest writes. */
export function createClusterView(deps: {
  readonly settings: MirrorSettings;
  readonly configMaps: Pick<Lister<ObservedConfigMap, ConfigMapIndex>, 'get' | 'byIndex'>;
  readonly namespaces: NamespaceLister;
  readonly mutations: Pick<MutationCache, 'newest' | 'writtenFor'>;
  readonly memory: Pick<ClusterView, 'unwantedMs'>;
  readonly deletions: Pick<Deletions, 'recent'>;
  readonly versions: Pick<SourceVersions, 'unsettledMs'>;
  readonly clock: Clock;
}): ClusterView {
  const { settings, configMaps, namespaces, mutations, memory, deletions, versions, clock } = deps;
  const current = (objects: readonly ObservedConfigMap[]) =>
    objects.flatMap((object) => mutations.newest(object.key, object) ?? []);
  /** Includes what we have just written: its watch event is our own, so it queues no other pass. */
  const withWritten = (
    seen: readonly ObservedConfigMap[],
    source: ObjectKey,
    isSought: (object: ObservedConfigMap) => boolean,
  ) => {
    const written = mutations.writtenFor(source);
    if (written.length === 0) return current(seen);
    const keys = new Set(seen.map((object) => object.key));
    return [...current(seen), ...written.filter((object) => !keys.has(object.key) && isSought(object))];
  };
  const due = new RememberedSearch(clock);
  const view: ClusterView = {
    settings,
    now: () => clock.wallTime().getTime(),
    configMap: (key) => mutations.newest(key, configMaps.get(key)),
    referrers: ({ key, uid }: SourceIdentity) => {
      const byName = configMaps.byIndex('referrers', key);
      const seen = uid === undefined ? byName : [...byName, ...configMaps.byIndex('referrers', uid)];
      return withWritten(seen, key, (object) => !isRevision(object, settings.vocabulary));
    },
    revisions: (key) =>
      withWritten(configMaps.byIndex('revisions', key), key, (object) =>
        isRevision(object, settings.vocabulary),
      ),
    claimants: (companion) =>
      claimIndexValues(companion).flatMap((value) => configMaps.byIndex('claims', value)),
    valuesUsers: (values) => configMaps.byIndex('values', values),
    dueFrom: (namespace, own) =>
      due.in(namespace, own, () => {
        const companions = current(configMaps.byIndex('origin', namespace));
        return dueAmong(companions, deletions.recent(namespace), view);
      }),
    unsettledMs: (source, settleMs) => versions.unsettledMs(source, settleMs),
    unwantedMs: (source, companion) => memory.unwantedMs(source, companion),
    namespace: (name) => namespaces.get(name as ObjectKey),
    namespaces: () => namespaces.values(),
  };
  return view;
}
