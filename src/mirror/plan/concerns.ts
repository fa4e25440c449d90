import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { type ObservedConfigMap, sourceReference } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { claims } from './claims.ts';
import { matchesTargets, mayMatchUnread } from './placement.ts';
import type { ClusterView } from './view.ts';

/**
 * The keys of the sources that a ConfigMap concerns: itself when it is one, the source that it
 * refers to, and the sources that ask for its name. So a companion whose source reference was
 * stripped still finds its source (SPEC R6), and a name that becomes free finds who waits for it
 * (SPEC R7).
 */
export function concernedSources(object: ObservedConfigMap, view: ClusterView): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  if (object.request !== undefined) keys.add(object.key);
  const reference = sourceReference(object, view.settings.vocabulary);
  if (reference !== undefined) keys.add(reference);
  for (const source of view.claimants(object.key)) {
    if (claims(source, object.key, view)) keys.add(source.key);
  }
  return keys;
}

/**
 * Whether the earlier state of an object concerned a source that the later one does not. The
 * sources that ask for its name are the same for both.
 */
export function concernedOthers(
  earlier: ObservedConfigMap,
  later: ObservedConfigMap,
  { settings: { vocabulary } }: ClusterView,
): boolean {
  if (earlier.request !== undefined && later.request === undefined) return true;
  return sourceReference(earlier, vocabulary) !== sourceReference(later, vocabulary);
}

const SELECTOR = 'selector';

/**
 * Index values that lead from the namespaces that a source may target to the source: exact names,
 * prefixes and, for every source with a selector, one value. {@link targetIndexValues} is the other
 * side.
 */
export function targetIndexValuesOf(object: ObservedConfigMap): readonly string[] {
  if (!object.request?.ok || object.request.value.targets === undefined) return [];
  const { patterns, selector } = object.request.value.targets;
  return [
    ...[...patterns.names].map((name) => `=${name}`),
    ...patterns.prefixes.map((prefix) => `^${prefix}`),
    ...(selector === undefined ? [] : [SELECTOR]),
  ];
}

/** At most 66 values: a namespace's name has at most 63 characters, each the end of one prefix. */
export function targetIndexValues(namespace: string): readonly string[] {
  const prefixes = Array.from(
    { length: namespace.length + 1 },
    (_, length) => `^${namespace.slice(0, length)}`,
  );
  return [`=${namespace}`, ...prefixes, SELECTOR];
}

/**
 * Whether namespaces must be known to decide about the object: it is a source that names targets,
 * or a companion in another namespace than its source, where it needs that namespace's consent
 * (SPEC P3).
 */
export function dependsOnNamespaces(object: ObservedConfigMap, vocabulary: Vocabulary): boolean {
  if (object.request !== undefined) {
    return object.request.ok && object.request.value.targets !== undefined;
  }
  const reference = sourceReference(object, vocabulary);
  // Where the reference was stripped, the source that the uid leads to may be anywhere.
  if (reference === undefined) return object.annotations[vocabulary.sourceUid] !== undefined;
  return splitKey(reference).namespace !== object.namespace;
}

/**
 * Whether a change of a namespace can matter to a source. A namespace that cannot be read may have
 * matched its selector all the while.
 */
export function isConcernedByNamespace(
  source: ObservedConfigMap,
  before: ObservedNamespace | undefined,
  after: ObservedNamespace | undefined,
): boolean {
  const targets = source.request?.ok ? source.request.value.targets : undefined;
  if (targets === undefined) return false;
  return [before, after].some(
    (namespace) =>
      namespace !== undefined && (matchesTargets(targets, namespace) || mayMatchUnread(targets, namespace)),
  );
}
