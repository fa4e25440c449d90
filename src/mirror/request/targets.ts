import type { LabelSelector } from './label-selector.ts';
import type { NamespacePatterns } from './patterns.ts';

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
