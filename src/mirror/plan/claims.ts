import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { companionKey, type MirrorRequest } from '../request/request.ts';
import { placementIn } from './placement.ts';
import type { ClusterView } from './view.ts';

/**
 * Index values under which a source is found by the companions that it may ask for: the exact key of the one beside
 * it, or, when it names targets, the companion's name in any namespace. {@link claimIndexValues} is the other side.
 */
export function claimsOf(object: ObservedConfigMap): readonly string[] {
  if (!object.request?.ok) return [];
  const request = object.request.value;
  return [request.targets ? `*/${request.companionName}` : companionKey(request, object.namespace)];
}

export function claimIndexValues(companion: ObjectKey): readonly string[] {
  return [companion, `*/${splitKey(companion).name}`];
}

/** Whether this source asks for, and may have, a companion at this key. */
export function claims(source: ObservedConfigMap, companion: ObjectKey, view: ClusterView): boolean {
  if (!source.request?.ok || source.deleting) return false;
  const request = source.request.value;
  const { namespace, name } = splitKey(companion);
  if (name !== request.companionName || companion === source.key) return false;
  return namespace === source.namespace && request.targets === undefined
    ? true
    : mayPlace(source, request, namespace, view);
}

function mayPlace(
  source: ObservedConfigMap,
  request: MirrorRequest,
  namespace: string,
  view: ClusterView,
): boolean {
  const { targets } = request;
  const observed = view.namespace(namespace);
  if (targets === undefined || observed === undefined) return false;
  const placement = placementIn(observed, { namespace: source.namespace, targets }, view.settings.bounds);
  return placement.kind === 'desired';
}

/**
 * The source that gets a free name when several ask for it (SPEC R7): the oldest, then by namespace and name.
 * Undefined when none but this one asks.
 */
export function precedingClaimant(
  source: ObservedConfigMap,
  companion: ObjectKey,
  view: ClusterView,
): ObservedConfigMap | undefined {
  let first = source;
  for (const rival of view.claimants(companion)) {
    if (rival.key === source.key || !precedes(rival, first)) continue;
    if (claims(rival, companion, view)) first = rival;
  }
  return first === source ? undefined : first;
}

function precedes(a: ObservedConfigMap, b: ObservedConfigMap): boolean {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt;
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name < b.name;
}
