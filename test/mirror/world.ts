import { keyOf, type ObjectKey, objectKey, parseKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';
import { mayDelete } from '../../src/mirror/companion/ownership.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { type ObservedNamespace, observeNamespace } from '../../src/mirror/observe/observed-namespace.ts';
import { isRevision } from '../../src/mirror/observe/revision.ts';
import { dueAmong } from '../../src/mirror/plan/brake.ts';
import { desiredOf } from '../../src/mirror/plan/desired.ts';
import { planOrphans } from '../../src/mirror/plan/orphans.ts';
import { planSource } from '../../src/mirror/plan/plan.ts';
import { planUnconsented } from '../../src/mirror/plan/removal.ts';
import type { Step } from '../../src/mirror/plan/step.ts';
import type { Bounds, Brake, ClusterView } from '../../src/mirror/plan/view.ts';
import { valuesKeys } from '../../src/mirror/render/values.ts';
import { parseNamespacePatterns } from '../../src/mirror/request/patterns.ts';
import { WATCHED } from '../../src/mirror/vocabulary.ts';
import { renderingOf } from './rendering-of.ts';
import { namespace, vocabulary } from './wire.ts';

/** What is in a cluster, as its API server has it. */
export interface World {
  readonly configMaps: readonly ConfigMap[];
  readonly namespaces: readonly Namespace[];
  readonly bounds: Bounds;
  /** The time of day (ms since the epoch); default 0. */
  readonly now?: number;
  /** For how long (ms) unwanted companions have been so; default not measured. */
  readonly unwantedMs?: number;
  /** Time (ms) until sources are quiet for long enough; default 0. */
  readonly unsettledMs?: number;
  /** Default: none. */
  readonly brake?: Brake | undefined;
  /** By the namespace of their sources; default none. */
  readonly recentDeletions?: ReadonlyMap<string, readonly string[]>;
}

/** The administrator's bounds, as the flags say them. */
export function boundsOf(
  flags: {
    readonly namespaces?: readonly string[] | undefined;
    readonly allow?: string;
    readonly deny?: string;
    readonly requireConsent?: boolean;
  } = {},
): Bounds {
  const patterns = (text: string) => {
    const result = parseNamespacePatterns(text, { exclusions: false });
    if (!result.ok) throw new Error(result.problem);
    return result.value;
  };
  return {
    namespaces: flags.namespaces && new Set(flags.namespaces),
    allow: patterns(flags.allow ?? '*'),
    deny: patterns(flags.deny ?? 'kube-*'),
    requireConsent: flags.requireConsent ?? false,
  };
}

/** Without a word about namespaces, those of the objects are there and say nothing. */
export function world(
  configMaps: readonly ConfigMap[],
  namespaces: readonly Namespace[] = namespacesOf(configMaps),
  bounds: Bounds = boundsOf(),
): World {
  return { configMaps, namespaces, bounds };
}

function namespacesOf(configMaps: readonly ConfigMap[]): readonly Namespace[] {
  const names = new Set(configMaps.map(({ metadata }) => metadata.namespace ?? ''));
  return [...names].map((name) => namespace(name));
}

/** Whether the watch shows an object: by its label and, with `--namespaces`, its namespace. */
function isSeen({ metadata }: ConfigMap, { bounds }: World): boolean {
  const label = metadata.labels?.['workshop.io/managed'];
  if (!WATCHED.includes(label ?? '')) return false;
  return bounds.namespaces === undefined || bounds.namespaces.has(metadata.namespace ?? '');
}

/**
 * A view by plain search: what the indexes of the controller should find, and `claimants` as wide
 * as it may be.
 */
export function viewOf(of: World): ClusterView {
  const seen = of.configMaps.filter((object) => isSeen(object, of)).map((item) => observe(item, vocabulary));
  const byKey = new Map<ObjectKey, ObservedConfigMap>(seen.map((object) => [object.key, object]));
  const namespaces = new Map<string, ObservedNamespace>();
  for (const item of of.namespaces) namespaces.set(item.metadata.name, observeNamespace(item, vocabulary));
  const view: ClusterView = {
    settings: { vocabulary, bounds: of.bounds, brake: of.brake },
    now: () => of.now ?? 0,
    unwantedMs: () => of.unwantedMs,
    unsettledMs: () => of.unsettledMs ?? 0,
    dueFrom: (name, own) => {
      const companions = seen.filter((object) => isFrom(name, object));
      const found = dueAmong(companions, new Set(of.recentDeletions?.get(name)), view);
      return { ...found, counted: new Set([...found.counted, ...own]) };
    },
    configMap: (key) => byKey.get(key),
    revisions: (key) =>
      seen.filter(
        (object) => isRevision(object, vocabulary) && object.annotations['workshop.io/source'] === key,
      ),
    referrers: ({ key, uid }) =>
      seen.filter((object) => {
        if (isRevision(object, vocabulary)) return false;
        const { annotations } = object;
        const text = annotations['workshop.io/source'];
        const named = text === undefined ? undefined : parseKey(text);
        if (named !== undefined) return named === key;
        return uid !== undefined && annotations['workshop.io/source-uid'] === uid;
      }),
    claimants: () => seen.filter((object) => object.request !== undefined),
    valuesUsers: (values) => seen.filter((object) => valuesKeys(object).includes(values)),
    namespace: (name) => namespaces.get(name),
    namespaces: () => namespaces.values(),
  };
  return view;
}

/** Whether an object refers to a source in the namespace, and is none. */
function isFrom(namespaceName: string, { request, annotations }: ObservedConfigMap): boolean {
  return request === undefined && annotations['workshop.io/source']?.startsWith(`${namespaceName}/`) === true;
}

/** The object at `namespace/name`, seen by the watch or not. */
export function objectAt(of: World, key: string): ConfigMap | undefined {
  return of.configMaps.find((object) => keyOf(object) === key);
}

/** The plan for a source key: as the reconciler makes it, with a live read where it makes one. */
export function planFor(key: string, of: World): readonly Step[] {
  const view = viewOf(of);
  const [namespaceName = '', name = ''] = key.split('/');
  const objectKeyOf = objectKey(namespaceName, name);
  if (of.bounds.namespaces !== undefined && !of.bounds.namespaces.has(namespaceName)) return [];
  const source = view.configMap(objectKeyOf);
  if (source?.request === undefined) {
    const identity = { key: objectKeyOf, uid: undefined };
    if (!view.referrers(identity).some((object) => mayDelete(object, identity, vocabulary))) return [];
    const live = objectAt(of, key);
    return planOrphans(objectKeyOf, live && observe(live, vocabulary), view);
  }
  if (!source.request.ok) return planUnconsented(source, view);
  const rendering = renderingOf(source, of.configMaps, view);
  return planSource(desiredOf(source, source.request.value, rendering, view).shape, view);
}

export type WriteStep = Exclude<Step, { readonly action: 'none' | 'defer' }>;

export function isWrite(step: Step): step is WriteStep {
  return step.action !== 'none' && step.action !== 'defer';
}

/** A plan in words, one line a step, in the order of the companions' keys. */
export function inWords(steps: readonly Step[]): readonly string[] {
  return steps
    .map(({ companion, action, state, reason }) => `${companion}: ${action}, ${state}; ${reason}`)
    .sort();
}

/** The plan for a source key, in words. */
export const plan = (key: string, of: World): readonly string[] => inWords(planFor(key, of));
