import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { companionKey } from '../request/request.ts';
import { placementIn } from './placement.ts';
import type { ClusterView } from './view.ts';

/**
 * Index values that lead from a companion's key to the sources that may ask for it: the key itself
 * or, of a source with a prefix or selector, `*` and the companion's name. (If that stood for exact
 * names too, 10,000 sources of one name would be looked at for each of their companions.) Look up
 * with {@link claimIndexValues}.
 */
export function claimsOf(object: ObservedConfigMap): readonly string[] {
  if (!object.request?.ok) return [];
  const request = object.request.value;
  if (request.targets === undefined) return [companionKey(request, object.namespace)];
  const { patterns, selector } = request.targets;
  return selector === undefined && patterns.prefixes.length === 0
    ? Array.from(patterns.names, (namespace) => companionKey(request, namespace))
    : [`*/${request.companionName}`];
}

export function claimIndexValues(companion: ObjectKey): readonly string[] {
  return [companion, `*/${splitKey(companion).name}`];
}

/** Whether this source asks for, and may have, a companion at this key. */
export function claims(source: ObservedConfigMap, companion: ObjectKey, view: ClusterView): boolean {
  if (!source.request?.ok || source.deleting) return false;
  const request = source.request.value;
  const { namespace, name } = splitKey(companion);
  return name === request.companionName && placementIn(namespace, source, request, view).kind === 'desired';
}

/** The other source that gets a free name first (SPEC R7); undefined if this one comes first. */
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
