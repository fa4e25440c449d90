import { keyOf } from '../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';

/**
 * SPEC's rules once more, written as plainly as they are said there and without any of the code
 * that they judge. What a source asks for is kept beside it as it was drawn, so that nothing needs
 * to be parsed.
 */

export interface Pattern {
  readonly text: string;
  readonly isPrefix: boolean;
  readonly isExclusion: boolean;
}

export interface Selector {
  readonly operator: 'in' | 'notin' | 'exists' | 'absent';
  readonly key: string;
  readonly values: readonly string[];
}

/** What a drawn source asks for. */
export interface Ask {
  readonly key: string;
  readonly uid: string;
  readonly patterns: readonly Pattern[] | undefined;
  readonly selector: Selector | undefined;
  readonly companionName: string;
  readonly retain: boolean;
  readonly deleting: boolean;
  /** An annotation is malformed. */
  readonly isBad: boolean;
}

/** The flags and the namespaces' own words, as they were drawn. */
export interface Rules {
  readonly allow: readonly Pattern[];
  readonly deny: readonly Pattern[];
  readonly requireConsent: boolean;
  /** By namespace; `undefined`: no annotation, `malformed`: a bad one. */
  readonly accepts: ReadonlyMap<string, readonly Pattern[] | 'malformed' | undefined>;
}

const namespaceOf = (key: string) => key.split('/')[0] ?? '';

function listed(patterns: readonly Pattern[], name: string): boolean {
  return patterns.some(({ text, isPrefix }) => (isPrefix ? name.startsWith(text) : name === text));
}

function asksFor(ask: Ask, { metadata }: Namespace): boolean {
  const { name, labels = {} } = metadata;
  const patterns = ask.patterns ?? [];
  if (
    listed(
      patterns.filter((pattern) => pattern.isExclusion),
      name,
    )
  )
    return false;
  if (
    listed(
      patterns.filter((pattern) => !pattern.isExclusion),
      name,
    )
  )
    return true;
  if (ask.selector === undefined) return false;
  const value = labels[ask.selector.key];
  switch (ask.selector.operator) {
    case 'in':
      return value !== undefined && ask.selector.values.includes(value);
    case 'notin':
      return value === undefined || !ask.selector.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
}

function isPermitted(ask: Ask, name: string, rules: Rules): boolean {
  const from = namespaceOf(ask.key);
  if (name === from) return true;
  if (!listed(rules.allow, name) || listed(rules.deny, name)) return false;
  const accepts = rules.accepts.get(name);
  if (accepts === undefined) return !rules.requireConsent;
  return accepts !== 'malformed' && listed(accepts, from);
}

/** The keys at which a source should have a companion (SPEC M1, M2, P1-P3, R10). */
export function wantedKeys(ask: Ask, namespaces: readonly Namespace[], rules: Rules): ReadonlySet<string> {
  if (ask.isBad || ask.deleting) return new Set();
  if (ask.patterns === undefined && ask.selector === undefined) {
    const home = namespaces.find(({ metadata }) => metadata.name === namespaceOf(ask.key));
    const isTerminating = home?.metadata.deletionTimestamp !== undefined;
    return new Set(isTerminating ? [] : [`${namespaceOf(ask.key)}/${ask.companionName}`]);
  }
  const wanted = namespaces.filter(
    (namespace) =>
      namespace.metadata.deletionTimestamp === undefined &&
      asksFor(ask, namespace) &&
      isPermitted(ask, namespace.metadata.name, rules),
  );
  const keys = wanted.map(({ metadata }) => `${metadata.name}/${ask.companionName}`);
  return new Set(keys.filter((key) => key !== ask.key));
}

/**
 * SPEC R6, without its first words "an object at the name that the source gives its companions".
 */
export function isOurs(
  object: ConfigMap,
  source: { readonly key: string; readonly uid: string | undefined },
): boolean {
  const { labels = {}, annotations = {}, ownerReferences = [], namespace } = object.metadata;
  const isController = ownerReferences.some(({ controller, uid }) => controller && uid === source.uid);
  if (isController && namespace === namespaceOf(source.key)) return true;
  const self = annotations['workshop.io/companion'];
  if (self !== undefined && self !== keyOf(object)) return false;
  let marks = 0;
  if (labels['workshop.io/managed'] === 'companion') marks += 1;
  if (annotations['workshop.io/source'] === source.key) marks += 1;
  if (source.uid !== undefined && annotations['workshop.io/source-uid'] === source.uid) marks += 1;
  return marks >= 2;
}

/** SPEC R8: what may be deleted at all. */
export function namesItself(object: ConfigMap): boolean {
  return object.metadata.annotations?.['workshop.io/companion'] === keyOf(object);
}
