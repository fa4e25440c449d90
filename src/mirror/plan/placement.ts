import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { Consent, ObservedNamespace } from '../observe/observed-namespace.ts';
import { matchesSelector } from '../request/label-selector.ts';
import {
  excludingItem,
  includingItem,
  isExcluded,
  matchesPatterns,
  type NamespacePatterns,
} from '../request/patterns.ts';
import type { Targets } from '../request/targets.ts';
import type { StringMap } from '../vocabulary.ts';

/** What the cluster's administrator allows (SPEC P1-P3). */
export interface Bounds {
  /** The only namespaces for sources and companions; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly allow: NamespacePatterns;
  readonly deny: NamespacePatterns;
  readonly requireConsent: boolean;
}

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

const PERMITTED: Permission = { kind: 'permitted' };
const DESIRED: Placement = { kind: 'desired' };
const UNMATCHED: Placement = { kind: 'unmatched' };
const UNREAD: Placement = {
  kind: 'forbidden',
  reason: 'the controller may not read the Namespace, so the selector cannot be matched',
};

/** Whether a source is not ours to watch (SPEC P2). */
export function isOutOfScope(
  source: ObjectKey,
  { settings: { bounds } }: { readonly settings: { readonly bounds: Bounds } },
): boolean {
  return bounds.namespaces !== undefined && !bounds.namespaces.has(splitKey(source).namespace);
}

/** A source that asks for companions. */
interface Asking {
  readonly namespace: string;
  readonly targets: Targets | undefined;
}

/** What decides where a companion may be, of the view. */
interface Lookup {
  readonly settings: { readonly bounds: Bounds };
  /** Undefined: it is not in the cache. */
  namespace(name: string): ObservedNamespace | undefined;
}

/** Named namespaces, existing or not; all others only if the source has a prefix or selector. */
export function* candidateNamespaces(
  source: Asking,
  view: { namespaces(): Iterable<ObservedNamespace> },
): Iterable<string> {
  if (source.targets === undefined) {
    yield source.namespace;
    return;
  }
  const { patterns, selector } = source.targets;
  yield* patterns.names;
  if (selector === undefined && patterns.prefixes.length === 0) return;
  for (const { name } of view.namespaces()) if (!patterns.names.has(name)) yield name;
}

/** Where a source asks for, and may have, a companion. */
export function* desiredNamespaces(
  source: Asking,
  view: Lookup & { namespaces(): Iterable<ObservedNamespace> },
): Iterable<string> {
  for (const name of candidateNamespaces(source, view)) {
    if (placementIn(name, source, view).kind === 'desired') yield name;
  }
}

/** A source without targets does not need its Namespace to be known. */
export function placementIn(name: string, source: Asking, view: Lookup): Placement {
  const { targets } = source;
  const { bounds } = view.settings;
  const namespace = view.namespace(name);
  if (targets === undefined && name !== source.namespace) return UNMATCHED;
  if (targets !== undefined && !matchesTargets(targets, { name, labels: namespace?.labels })) {
    return namespace !== undefined && mayMatchUnread(targets, namespace) ? UNREAD : UNMATCHED;
  }
  const permission = permissionIn(name, namespace, source.namespace, bounds);
  if (permission.kind !== 'permitted') return permission;
  return targets !== undefined && namespace === undefined ? { kind: 'absent' } : DESIRED;
}

/** Whether a selector might match the labels that the controller may not read. */
export function mayMatchUnread({ selector, patterns }: Targets, namespace: ObservedNamespace): boolean {
  return namespace.labels === undefined && selector !== undefined && !isExcluded(patterns, namespace.name);
}

/** `labels` undefined: not known, so no selector matches. */
export function matchesTargets(targets: Targets, namespace: TargetCandidate): boolean {
  const { kind } = matchTargets(targets, namespace);
  return kind === 'included' || kind === 'selected';
}

interface TargetCandidate {
  readonly name: string;
  readonly labels: StringMap | undefined;
}

/** Why a source targets a namespace or not. `item`: of the list, as written, without `!`. */
type TargetMatch =
  | { readonly kind: 'included' | 'excluded'; readonly item: string }
  | { readonly kind: 'selected' | 'none' };

const SELECTED: TargetMatch = { kind: 'selected' };
const NO_MATCH: TargetMatch = { kind: 'none' };

export function matchTargets(
  { selector, patterns }: Targets,
  { name, labels }: TargetCandidate,
): TargetMatch {
  const exclusion = excludingItem(patterns, name);
  if (exclusion !== undefined) return { kind: 'excluded', item: exclusion };
  const inclusion = includingItem(patterns, name);
  if (inclusion !== undefined) return { kind: 'included', item: inclusion };
  const isSelected = selector !== undefined && labels !== undefined && matchesSelector(selector, labels);
  return isSelected ? SELECTED : NO_MATCH;
}

/**
 * What the controller may do in a namespace for a source in namespace `from`.
 * @param namespace undefined: not in the cache
 */
export function permissionIn(
  name: string,
  namespace: ObservedNamespace | undefined,
  from: string,
  bounds: Bounds,
): Permission {
  const outOfBounds = name === from ? undefined : boundsRefusal(name, bounds);
  if (outOfBounds !== undefined) return { kind: 'forbidden', reason: outOfBounds };
  if (namespace?.active === false) return { kind: 'terminating' };
  if (name === from) return PERMITTED;
  return namespace === undefined
    ? { kind: 'absent' }
    : consentTo(from, namespace.consent, bounds.requireConsent);
}

/** Why the administrator's bounds exclude a namespace; undefined if they do not. */
export function boundsRefusal(namespace: string, bounds: Bounds): string | undefined {
  if (bounds.namespaces !== undefined && !bounds.namespaces.has(namespace)) {
    return 'the namespace is not among --namespaces';
  }
  if (!matchesPatterns(bounds.allow, namespace))
    return 'the namespace is not among --allow-target-namespaces';
  if (matchesPatterns(bounds.deny, namespace)) return 'the namespace is among --deny-target-namespaces';
  return undefined;
}

/** Whether the namespace's owner lets sources in namespace `from` write there. */
export function consentTo(from: string, consent: Consent, isRequired: boolean): Permission {
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
