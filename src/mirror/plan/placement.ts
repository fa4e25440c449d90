import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { Consent, ObservedNamespace } from '../observe/observed-namespace.ts';
import { isExcluded, matchesPatterns } from '../request/patterns.ts';
import type { MirrorRequest } from '../request/request.ts';
import { matchesTargets, type Targets } from '../request/targets.ts';
import type { Bounds, ClusterView } from './view.ts';

/**
 * What the controller may do in a namespace for a source.
 * - `permitted`: everything.
 * - `absent`: nothing. The namespace does not exist, or has not been seen yet.
 * - `terminating`: nothing. The namespace is being deleted.
 * - `forbidden`: nothing, not even delete. The administrator's bounds exclude the namespace, or its
 *   consent is unknown (SPEC P2, P3).
 * - `unconsented`: only delete, whatever the source's policy. The namespace refuses companions.
 *   `unsaid`: it says nothing, and `--require-consent` is set.
 */
export type Permission =
  | { readonly kind: 'permitted' }
  | { readonly kind: 'absent' | 'terminating' }
  | { readonly kind: 'forbidden'; readonly reason: string }
  | { readonly kind: 'unconsented'; readonly reason: string; readonly unsaid: boolean };

/**
 * Whether a source gets a companion in a namespace. `unmatched`: it does not ask for one.
 * `desired`: it asks and has permission.
 */
export type Placement =
  | { readonly kind: 'desired' | 'unmatched' }
  | Exclude<Permission, { readonly kind: 'permitted' }>;

const PERMITTED = { kind: 'permitted' } as const;
const DESIRED: Placement = { kind: 'desired' };
const UNMATCHED: Placement = { kind: 'unmatched' };
const UNREAD: Placement = {
  kind: 'forbidden',
  reason: 'the controller may not read the Namespace, so the selector cannot be matched',
};

/** Whether `--namespaces` lets us look at a namespace (SPEC P2). */
export function isInScope(namespace: string, { namespaces }: Pick<Bounds, 'namespaces'>): boolean {
  return namespaces?.has(namespace) ?? true;
}

/** Whether a source is not ours to watch. */
export function isOutOfScope(source: ObjectKey, { settings: { bounds } }: ClusterView): boolean {
  return !isInScope(splitKey(source).namespace, bounds);
}

/** What decides where a companion may be. */
type Lookup = Pick<ClusterView, 'settings' | 'namespace'>;

/** Named namespaces, existing or not; all others only if the source has a prefix or selector. */
export function* candidateNamespaces(
  source: ObservedConfigMap,
  { targets }: MirrorRequest,
  view: ClusterView,
): Iterable<string> {
  if (targets === undefined) {
    yield source.namespace;
    return;
  }
  const { patterns, selector } = targets;
  yield* patterns.names;
  if (selector === undefined && patterns.prefixes.length === 0) return;
  for (const { name } of view.namespaces()) if (!patterns.names.has(name)) yield name;
}

/** Where a source asks for, and may have, a companion. */
export function* desiredNamespaces(
  source: ObservedConfigMap,
  request: MirrorRequest,
  view: ClusterView,
): Iterable<string> {
  for (const name of candidateNamespaces(source, request, view)) {
    if (placementIn(name, source, request, view).kind === 'desired') yield name;
  }
}

/** A source without targets does not need its Namespace to be known. */
export function placementIn(
  name: string,
  source: ObservedConfigMap,
  { targets, companionName }: MirrorRequest,
  view: Lookup,
): Placement {
  const namespace = view.namespace(name);
  const isOwn = name === source.namespace;
  if (targets === undefined && !isOwn) return UNMATCHED;
  // If companions have the source's name, the one in its own namespace would be the source.
  if (isOwn && companionName === source.name) return UNMATCHED;
  if (targets !== undefined && !matchesTargets(targets, { name, labels: namespace?.labels })) {
    return namespace !== undefined && mayMatchUnread(targets, namespace) ? UNREAD : UNMATCHED;
  }
  const permission = permissionIn(name, source.namespace, view);
  if (permission.kind !== 'permitted') return permission;
  return targets !== undefined && namespace === undefined ? { kind: 'absent' } : DESIRED;
}

/** Whether a selector might match the labels that the controller may not read. */
export function mayMatchUnread({ selector, patterns }: Targets, namespace: ObservedNamespace): boolean {
  return namespace.labels === undefined && selector !== undefined && !isExcluded(patterns, namespace.name);
}

/** What the controller may do in a namespace for a source in namespace `from`. */
export function permissionIn(name: string, from: string, view: Lookup): Permission {
  const { bounds } = view.settings;
  const namespace = view.namespace(name);
  const outOfBounds = boundsRefusal(name, from, bounds);
  if (outOfBounds !== undefined) return { kind: 'forbidden', reason: outOfBounds };
  if (namespace?.active === false) return { kind: 'terminating' };
  if (name === from) return PERMITTED;
  return namespace === undefined
    ? { kind: 'absent' }
    : consentTo(from, namespace.consent, bounds.requireConsent);
}

/** Why the administrator's bounds exclude a namespace; undefined if they do not. */
export function boundsRefusal(namespace: string, from: string, bounds: Bounds): string | undefined {
  if (namespace === from) return undefined;
  if (!isInScope(namespace, bounds)) return 'the namespace is not among --namespaces';
  if (!matchesPatterns(bounds.allow, namespace))
    return 'the namespace is not among --allow-target-namespaces';
  if (matchesPatterns(bounds.deny, namespace)) return 'the namespace is among --deny-target-namespaces';
  return undefined;
}

type Consented = Exclude<Permission, { readonly kind: 'absent' | 'terminating' }>;

/** Whether the namespace's owner lets sources in namespace `from` write there. */
export function consentTo(from: string, consent: Consent, isRequired: boolean): Consented {
  switch (consent.kind) {
    case 'unsaid': {
      const reason = 'the namespace has no accept-mirrors-from, and --require-consent is set';
      return isRequired ? { kind: 'unconsented', reason, unsaid: true } : PERMITTED;
    }
    case 'unreadable': {
      const reason = 'the controller may not read the Namespace, so its consent is unknown';
      return { kind: 'forbidden', reason };
    }
    case 'malformed': {
      const reason = `the namespace's accept-mirrors-from is malformed, so nothing new is accepted: ${consent.problem}`;
      return { kind: 'forbidden', reason };
    }
    case 'accepts': {
      const reason = `the namespace's accept-mirrors-from does not accept ${from}`;
      return matchesPatterns(consent.patterns, from)
        ? PERMITTED
        : { kind: 'unconsented', reason, unsaid: false };
    }
  }
}
