import type { StringMap } from '../vocabulary.ts';
import { type LabelSelector, matchesSelector } from './label-selector.ts';
import { excludingItem, includingItem, type NamespacePatterns } from './patterns.ts';

/** The namespaces that a source targets. */
export interface Targets {
  readonly patterns: NamespacePatterns;
  /** Adds namespaces to those of `patterns`. The exclusions there apply to both. */
  readonly selector: LabelSelector | undefined;
}

export const NO_NAMESPACES: NamespacePatterns = {
  names: new Set(),
  prefixes: [],
  excludedNames: new Set(),
  excludedPrefixes: [],
};

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
