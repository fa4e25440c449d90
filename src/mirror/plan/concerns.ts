import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { isValues, type ObservedConfigMap, sourceReference } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { claims } from './claims.ts';
import { matchesTargets, mayMatchUnread } from './placement.ts';
import { waveOn } from './removal.ts';
import type { ClusterView } from './view.ts';

/**
 * The keys of the sources that a ConfigMap concerns: itself if it is one, the source that it refers
 * to, the sources that use its values (SPEC V3), and those that claim its name. The last find a
 * companion that lost its source reference (SPEC R6), and a name that becomes free (SPEC R7).
 */
export function concernedSources(object: ObservedConfigMap, view: ClusterView): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  if (object.request !== undefined) keys.add(object.key);
  const reference = sourceReference(object, view.settings.vocabulary);
  if (reference !== undefined) keys.add(reference);
  if (isValues(object, view.settings.vocabulary)) {
    for (const source of view.valuesUsers(object.key)) keys.add(source.key);
  }
  for (const source of view.claimants(object.key)) {
    if (claims(source, object.key, view)) keys.add(source.key);
  }
  return keys;
}

/**
 * Whether the earlier state of an object concerned a source that the later one does not. Both have
 * the same name, so the same sources claim it.
 */
export function concernedOthers(
  earlier: ObservedConfigMap,
  later: ObservedConfigMap,
  { settings: { vocabulary } }: ClusterView,
): boolean {
  if (earlier.request !== undefined && later.request === undefined) return true;
  if (isValues(earlier, vocabulary) && !isValues(later, vocabulary)) return true;
  return sourceReference(earlier, vocabulary) !== sourceReference(later, vocabulary);
}

const SELECTOR = 'selector';

/**
 * Index values that lead from a namespace to the sources that may target it: exact names, prefixes
 * and, for every source with a selector, one value. Look up with {@link targetIndexValues}. A source
 * that uses labels of its own namespace counts as one that targets it.
 */
export function targetIndexValuesOf(object: ObservedConfigMap): readonly string[] {
  if (!object.request?.ok) return [];
  const { targets } = object.request.value;
  if (targets === undefined) return usesLabels(object) ? [`=${object.namespace}`] : [];
  const { patterns, selector } = targets;
  return [
    ...[...patterns.names].map((name) => `=${name}`),
    ...patterns.prefixes.map((prefix) => `^${prefix}`),
    ...(selector === undefined ? [] : [SELECTOR]),
  ];
}

/** At most 66 values: the name has up to 63 characters, and as many prefixes. */
export function targetIndexValues(namespace: string): readonly string[] {
  const prefixes = Array.from(
    { length: namespace.length + 1 },
    (_, length) => `^${namespace.slice(0, length)}`,
  );
  return [`=${namespace}`, ...prefixes, SELECTOR];
}

/** Whether labels of a target namespace decide about its companion, beside the targets. */
function usesLabels({ uses, request }: ObservedConfigMap): boolean {
  const canary = request?.ok ? request.value.rollout?.canary : undefined;
  if (canary?.namespaces.selector !== undefined) return true;
  return uses !== undefined && (uses.labels === 'any' || uses.labels.length > 0);
}

/**
 * Whether namespaces must be known to decide about the object: a source with targets or with
 * placeholders for labels, a companion outside its source's namespace, which needs consent (SPEC
 * P3), or one that is held, which its source's Namespace may release (SPEC D2).
 */
export function dependsOnNamespaces(object: ObservedConfigMap, vocabulary: Vocabulary): boolean {
  if (object.request !== undefined) {
    return object.request.ok && (object.request.value.targets !== undefined || usesLabels(object));
  }
  if (waveOn(object, vocabulary) !== undefined) return true;
  const reference = sourceReference(object, vocabulary);
  // If only the uid is left, the source may be anywhere.
  if (reference === undefined) return object.annotations[vocabulary.sourceUid] !== undefined;
  return splitKey(reference).namespace !== object.namespace;
}

/** Whether a change of a namespace can matter to a source. */
export function isConcernedByNamespace(
  source: ObservedConfigMap,
  before: ObservedNamespace | undefined,
  after: ObservedNamespace | undefined,
): boolean {
  const { request, uses, namespace: own } = source;
  if (!request?.ok) return false;
  const { targets, rollout } = request.value;
  const canaries = rollout?.canary?.namespaces;
  const isCanary = (namespace: ObservedNamespace) =>
    canaries !== undefined && matchesTargets(canaries, namespace);
  const isCandidate = (namespace: ObservedNamespace | undefined) => {
    if (namespace === undefined) return false;
    if (targets === undefined) return usesLabels(source) && namespace.name === own;
    return matchesTargets(targets, namespace) || mayMatchUnread(targets, namespace);
  };
  if (!isCandidate(before) && !isCandidate(after)) return false;
  if (before === undefined || after === undefined) return true;
  const isOtherwiseSame =
    isCandidate(before) === isCandidate(after) &&
    isCanary(before) === isCanary(after) &&
    before.active === after.active &&
    (before.labels === undefined) === (after.labels === undefined) &&
    saidConsent(before) === saidConsent(after);
  // An edit of a label that nobody uses costs nothing (SPEC V5).
  return !isOtherwiseSame || differInUsed(uses?.labels ?? [], before.labels, after.labels);
}

function differInUsed(
  used: readonly string[] | 'any',
  before: StringMap = {},
  after: StringMap = {},
): boolean {
  const keys = used === 'any' ? Object.keys({ ...before, ...after }) : used;
  return keys.some((key) => before[key] !== after[key]);
}

/** The annotation alone does not show whether the controller may read the Namespace. */
export function saidConsent(namespace: ObservedNamespace | undefined): string {
  return `${namespace?.consent.kind} ${namespace?.acceptMirrorsFrom}`;
}
