import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { isCompanionOf } from '../companion/ownership.ts';
import { isValues, type ObservedConfigMap, sourceReference } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import type { SourceRequest } from '../observe/source-request.ts';
import { matchesTargets } from '../request/targets.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { claims } from './claims.ts';
import { isOutOfScope, mayMatchUnread } from './placement.ts';
import { waveOn } from './removal.ts';
import type { ClusterView } from './view.ts';

/**
 * The keys of the sources that a ConfigMap concerns: itself if it is one, the source that it refers
 * to, if that is ours to watch (SPEC P2), the sources that use its values (SPEC V3), and those that
 * claim its name. The last find a companion that lost its source reference (SPEC R6), and a name
 * that becomes free (SPEC R7); while the companion's own source holds the name, no other gets it.
 */
export function concernedSources(object: ObservedConfigMap, view: ClusterView): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  if (object.request !== undefined) keys.add(object.key);
  const reference = sourceReference(object, view.settings.vocabulary);
  if (reference !== undefined && !isOutOfScope(reference, view)) keys.add(reference);
  if (isValues(object, view.settings.vocabulary)) {
    for (const source of view.valuesUsers(object.key)) keys.add(source.key);
  }
  if (reference !== undefined && holdsName(object, reference, view)) return keys;
  for (const source of view.claimants(object.key)) {
    if (claims(source, object.key, view)) keys.add(source.key);
  }
  return keys;
}

/**
 * Whether the source that the companion refers to holds its name. The claimants of one name may be
 * thousands, each with a selector of its own, and each of their companions has an event.
 */
function holdsName(object: ObservedConfigMap, reference: ObjectKey, view: ClusterView): boolean {
  const owner = view.configMap(reference);
  const isThere = view.configMap(object.key) !== undefined;
  if (!isThere || owner === undefined || !claims(owner, object.key, view)) return false;
  return isCompanionOf(object, owner, view.settings.vocabulary);
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
 * and, for every source with a selector, one value. Look up with {@link targetIndexValues}. A
 * source that uses labels of its own namespace counts as one that targets it.
 */
export function targetIndexValuesOf(object: ObservedConfigMap): readonly string[] {
  if (!object.request?.ok) return [];
  const request = object.request.value;
  const { targets } = request;
  if (targets === undefined) return usesLabels(request) ? [`=${object.namespace}`] : [];
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
function usesLabels({ uses, rollout }: SourceRequest): boolean {
  if (rollout?.canary?.namespaces.selector !== undefined) return true;
  return uses !== undefined && (uses.labels === 'any' || uses.labels.length > 0);
}

/**
 * Whether namespaces must be known to decide about the object: a source with targets or with
 * placeholders for labels, a companion outside its source's namespace, which needs consent (SPEC
 * P3), or one that is held, which its source's Namespace may release (SPEC D2).
 */
export function dependsOnNamespaces(object: ObservedConfigMap, vocabulary: Vocabulary): boolean {
  if (object.request !== undefined) {
    if (!object.request.ok) return false;
    const request = object.request.value;
    return request.targets !== undefined || usesLabels(request);
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
  return partFor(source, before) !== partFor(source, after);
}

/**
 * What a source depends on in a namespace, so that an edit of another label costs nothing (SPEC
 * V5). Undefined: the source does not target it.
 */
function partFor(
  { request, namespace: own }: ObservedConfigMap,
  namespace: ObservedNamespace | undefined,
): string | undefined {
  if (!request?.ok || namespace === undefined) return undefined;
  const { targets, rollout, uses } = request.value;
  const { name, active, labels = {} } = namespace;
  const isTarget =
    targets === undefined
      ? name === own && usesLabels(request.value)
      : matchesTargets(targets, namespace) || mayMatchUnread(targets, namespace);
  if (!isTarget) return undefined;
  const canaries = rollout?.canary?.namespaces;
  const isCanary = canaries !== undefined && matchesTargets(canaries, namespace);
  const used = uses?.labels === 'any' ? labels : uses?.labels.map((key) => labels[key]);
  return JSON.stringify([saidConsent(namespace), active, isCanary, used]);
}

/** The annotation alone does not show whether the controller may read the Namespace. */
export function saidConsent(namespace: ObservedNamespace | undefined): string {
  return `${namespace?.consent.kind} ${namespace?.acceptMirrorsFrom}`;
}
