import type { Consent, ObservedNamespace } from '../observe/observed-namespace.ts';
import { matchesSelector } from '../request/label-selector.ts';
import { isExcluded, isIncluded, matchesPatterns, type NamespacePatterns } from '../request/patterns.ts';
import type { Targets } from '../request/request.ts';
import type { StringMap } from '../vocabulary.ts';

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
 * - `desired`: yes.
 * - `unmatched`: the source does not ask for it; a companion there is no longer needed.
 * - `forbidden`: nothing is ever written there, deletes included: it lies outside the administrator's bounds, or its
 *   consent is not known (an unreadable Namespace or a typo must not cost anybody a companion).
 * - `unconsented`: the namespace does not accept it; a companion there is deleted, whatever the source's policy.
 * - `terminating`: the namespace is being deleted and is left alone.
 */
export type Placement =
  | { readonly kind: 'desired' | 'unmatched' | 'terminating' }
  | { readonly kind: 'forbidden' | 'unconsented'; readonly reason: string };

const DESIRED: Placement = { kind: 'desired' };
const UNMATCHED: Placement = { kind: 'unmatched' };
const TERMINATING: Placement = { kind: 'terminating' };
const UNREAD: Placement = {
  kind: 'forbidden',
  reason: 'the controller may not read the Namespace, so the selector cannot be matched',
};

/** Placement of a source that names targets. One that does not has its companion beside it, without a question. */
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
  if (refused === undefined) return DESIRED;
  return { kind: isKnown(namespace.consent) ? 'unconsented' : 'forbidden', reason: refused };
}

/** Whether a selector might match the labels that the controller may not read. */
export function mayMatchUnread(targets: Targets, namespace: ObservedNamespace): boolean {
  return (
    namespace.consent.kind === 'unreadable' &&
    targets.selector !== undefined &&
    !isExcluded(targets.patterns, namespace.name)
  );
}

export function matchesTargets(
  targets: Targets,
  namespace: { readonly name: string; readonly labels: StringMap },
): boolean {
  if (isExcluded(targets.patterns, namespace.name)) return false;
  if (isIncluded(targets.patterns, namespace.name)) return true;
  return targets.selector !== undefined && matchesSelector(targets.selector, namespace.labels);
}

/** Why the administrator's bounds forbid to write there for a source of `from`; undefined: they do not. */
export function boundsRefusal(namespace: string, from: string, bounds: Bounds): string | undefined {
  if (namespace === from) return undefined;
  if (bounds.namespaces !== undefined && !bounds.namespaces.has(namespace)) {
    return 'the namespace is not among --namespaces';
  }
  if (!matchesPatterns(bounds.allow, namespace)) {
    return 'the namespace is not among --allow-target-namespaces';
  }
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
        ? 'the namespace has no accept-mirrors-from, and --require-consent is set'
        : undefined;
    case 'unreadable':
      return 'the controller may not read the Namespace, so its consent is unknown';
    case 'malformed':
      return `the namespace's accept-mirrors-from is malformed, so nothing new is accepted: ${consent.problem}`;
    case 'accepts':
      return matchesPatterns(consent.patterns, from)
        ? undefined
        : `the namespace's accept-mirrors-from does not accept ${from}`;
  }
}

/** Whether a refusal is the namespace owner's word, so that what is there is to be deleted (SPEC P2, P3). */
export function isKnown({ kind }: Consent): boolean {
  return kind === 'accepts' || kind === 'unsaid';
}
