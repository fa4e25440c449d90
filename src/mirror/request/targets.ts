import type { StringMap } from '../vocabulary.ts';
import { type LabelSelector, matchesSelector } from './label-selector.ts';
import { includingItem, isExcluded, type NamespacePatterns, NO_NAMES } from './patterns.ts';

/** The namespaces that a source targets. */
export interface Targets {
  readonly patterns: NamespacePatterns;
  /** Adds namespaces to those of `patterns`. The exclusions there apply to both. */
  readonly selector: LabelSelector | undefined;
}

export const NO_NAMESPACES: NamespacePatterns = {
  names: NO_NAMES,
  prefixes: [],
  excludedNames: NO_NAMES,
  excludedPrefixes: [],
};

/** `labels` undefined: not known, so no selector matches. */
export function matchesTargets(
  { selector, patterns }: Targets,
  { name, labels }: { readonly name: string; readonly labels: StringMap | undefined },
): boolean {
  if (isExcluded(patterns, name)) return false;
  if (includingItem(patterns, name) !== undefined) return true;
  return selector !== undefined && labels !== undefined && matchesSelector(selector, labels);
}
