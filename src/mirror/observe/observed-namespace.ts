import { keyOf, type ObjectKey } from '../../kube/api/object-key.ts';
import type { Namespace } from '../../kube/api/types.ts';
import { type NamespacePatterns, parseNamespacePatterns } from '../request/patterns.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';

/** What the controller remembers of a Namespace. */
export interface ObservedNamespace {
  readonly key: ObjectKey;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined when the controller may not read the Namespace: no selector matches it (SPEC P2). */
  readonly labels: StringMap | undefined;
  /** False while it is being deleted: nothing can be created in it. */
  readonly active: boolean;
  /** The annotation's text, to see whether it changed. */
  readonly acceptMirrorsFrom: string | undefined;
  readonly consent: Consent;
  /** For sources that are gone: the annotation's text (SPEC D2). */
  readonly allowDeletes: string | undefined;
}

/** What the owner of a namespace says about companions in it (SPEC P3). */
export type Consent =
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'accepts'; readonly patterns: NamespacePatterns }
  | { readonly kind: 'malformed'; readonly problem: string }
  /** The controller may not read the Namespace (SPEC P2). */
  | { readonly kind: 'unreadable' };

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
    labels: object.unreadable ? undefined : (metadata.labels ?? {}),
    active: metadata.deletionTimestamp === undefined,
    acceptMirrorsFrom,
    allowDeletes: metadata.annotations?.[vocabulary.allowDeletes],
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
