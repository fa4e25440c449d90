import { keyOf, type ObjectKey } from '../kube/api/object-key.ts';
import type { Namespace } from '../kube/api/types.ts';
import { matchesSelector } from './label-selector.ts';
import {
  isExcluded,
  isIncluded,
  matchesPatterns,
  type NamespacePatterns,
  parseNamespacePatterns,
} from './patterns.ts';
import type { Targets } from './request.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What we remember of a Namespace. */
export interface ObservedNamespace {
  readonly key: ObjectKey;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  /** False from the moment its deletion begins: nothing can be created in it any more. */
  readonly active: boolean;
  /** The annotation as it stands, to see whether it changed; {@link ObservedNamespace.consent} is what it says. */
  readonly acceptMirrorsFrom: string | undefined;
  readonly consent: Consent;
}

/** From which source namespaces a namespace accepts companions (SPEC P3). */
export type Consent =
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'accepts'; readonly patterns: NamespacePatterns }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** We may not read the Namespace (SPEC P2). */
  | { readonly kind: 'unreadable' };

/** What the cluster's administrator allows (SPEC P1-P3). */
export interface Bounds {
  /** The only namespaces of sources and of companions; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly allow: NamespacePatterns;
  readonly deny: NamespacePatterns;
  readonly requireConsent: boolean;
}

/**
 * Whether a source gets a companion in a namespace.
 * - `wanted`: yes.
 * - `unmatched`: the source does not ask for it; a companion that is there is unwanted.
 * - `forbidden`: outside the administrator's bounds, or its consent cannot be read: we never write there, deletes
 *   included (an unreadable Namespace must not cost anybody a companion).
 * - `unconsented`: the namespace does not accept it; a companion that is there goes, whatever the source's policy.
 * - `terminating`: the namespace is going: leave it alone.
 */
export type Placement =
  | { readonly kind: 'wanted' | 'unmatched' | 'terminating' }
  | { readonly kind: 'forbidden' | 'unconsented'; readonly reason: string };

const WANTED: Placement = { kind: 'wanted' };
const UNMATCHED: Placement = { kind: 'unmatched' };
const TERMINATING: Placement = { kind: 'terminating' };
const UNREAD: Placement = {
  kind: 'forbidden',
  reason: 'the controller may not read the Namespace, so the selector matches nothing there',
};

export function observeNamespace(
  object: Namespace & { readonly unreadable?: boolean },
  vocabulary: Vocabulary,
): ObservedNamespace {
  const { metadata } = object;
  const acceptMirrorsFrom = metadata.annotations?.[vocabulary.acceptMirrorsFrom];
  return {
    key: keyOf(object),
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    labels: metadata.labels ?? {},
    active: metadata.deletionTimestamp === undefined,
    acceptMirrorsFrom,
    consent: object.unreadable ? { kind: 'unreadable' } : parseConsent(acceptMirrorsFrom),
  };
}

function parseConsent(annotation: string | undefined): Consent {
  if (annotation === undefined) return { kind: 'unsaid' };
  const patterns = parseNamespacePatterns(annotation, { exclusions: false });
  return patterns.ok
    ? { kind: 'accepts', patterns: patterns.value }
    : { kind: 'malformed', problem: patterns.problem };
}

/** Placement of a source that names targets; one that does not has its companion beside it, without a question. */
export function placementIn(
  namespace: ObservedNamespace,
  source: { readonly namespace: string; readonly targets: Targets },
  bounds: Bounds,
): Placement {
  if (!matchesTargets(source.targets, namespace)) {
    return mayMatchUnread(source.targets, namespace) ? UNREAD : UNMATCHED;
  }
  const forbidden = boundsRefusal(namespace.name, source.namespace, bounds);
  if (forbidden !== undefined) return { kind: 'forbidden', reason: forbidden };
  if (!namespace.active) return TERMINATING;
  const refused = consentRefusal(namespace, source.namespace, bounds);
  if (refused === undefined) return WANTED;
  return { kind: namespace.consent.kind === 'unreadable' ? 'forbidden' : 'unconsented', reason: refused };
}

/** Whether a selector might match the labels that we may not read. */
export function mayMatchUnread(targets: Targets, namespace: ObservedNamespace): boolean {
  return (
    namespace.consent.kind === 'unreadable' &&
    targets.selector !== undefined &&
    !isExcluded(targets.patterns, namespace.name)
  );
}

export function matchesTargets(
  targets: Targets,
  namespace: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  if (isExcluded(targets.patterns, namespace.name)) return false;
  if (isIncluded(targets.patterns, namespace.name)) return true;
  return targets.selector !== undefined && matchesSelector(targets.selector, namespace.labels);
}

/** Why the administrator's bounds keep us from ever writing there for a source of `from`; undefined: they don't. */
export function boundsRefusal(namespace: string, from: string, bounds: Bounds): string | undefined {
  if (namespace === from) return undefined;
  if (bounds.namespaces !== undefined && !bounds.namespaces.has(namespace)) {
    return 'the namespace is not among --namespaces';
  }
  if (!matchesPatterns(bounds.allow, namespace))
    return 'the namespace is not among --allow-target-namespaces';
  if (matchesPatterns(bounds.deny, namespace)) return 'the namespace is among --deny-target-namespaces';
  return undefined;
}

/** Why the namespace's owner does not want companions of a source of `from`; undefined: no objection. */
export function consentRefusal(
  namespace: ObservedNamespace,
  from: string,
  bounds: Bounds,
): string | undefined {
  if (namespace.name === from) return undefined;
  const { consent } = namespace;
  switch (consent.kind) {
    case 'unsaid':
      return bounds.requireConsent
        ? 'the namespace has not consented, and --require-consent is set'
        : undefined;
    case 'unreadable':
      return 'the controller may not read the Namespace, so its consent is unknown';
    case 'malformed':
      return `the namespace's accept-mirrors-from is malformed and so accepts nobody: ${consent.problem}`;
    case 'accepts':
      return matchesPatterns(consent.patterns, from)
        ? undefined
        : `the namespace's accept-mirrors-from does not accept from ${from}`;
  }
}
