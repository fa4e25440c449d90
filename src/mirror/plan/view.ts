import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { SourceIdentity } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import type { NamespacePatterns } from '../request/patterns.ts';
import type { Vocabulary } from '../vocabulary.ts';

/** The cluster as the rules see it. Every method but `dueFrom` is a lookup, not a search. */
export interface ClusterView {
  readonly settings: MirrorSettings;
  /** The time of day (ms since the epoch). The rules have no clock of their own. */
  now(): number;
  /** The source, companion, revision or ConfigMap with values at a key. No other is in the view. */
  configMap(key: ObjectKey): ObservedConfigMap | undefined;
  /** Objects that refer to the source by its name or, if that was stripped, by its uid. */
  referrers(source: SourceIdentity): readonly ObservedConfigMap[];
  /** Revisions that name the source, whether we made them or not. Not among the referrers. */
  revisions(source: ObjectKey): readonly ObservedConfigMap[];
  /** The sources that may ask for a companion at this key; `claims` decides whether they do. */
  claimants(companion: ObjectKey): readonly ObservedConfigMap[];
  /** The sources that use the values of the ConfigMap at this key. */
  valuesUsers(values: ObjectKey): readonly ObservedConfigMap[];
  /**
   * Time (ms) since a companion of the source was first found unwanted; 0: just now; undefined: it
   * is not measured.
   */
  unwantedMs(source: ObjectKey, companion: ObjectKey): number | undefined;
  /** Time (ms) until the source has been quiet for that long; 0: it has, or it is not measured. */
  unsettledMs(source: ObjectKey, settleMs: number): number;
  /**
   * Deletions due for the sources of a namespace (`dueAmong`), maybe a moment ago, and those that
   * plans have found due since. `own`: uids of what the plan that asks would delete; they count
   * too.
   */
  dueFrom(namespace: string, own: readonly string[]): DueDeletions;
  namespace(name: string): ObservedNamespace | undefined;
  namespaces(): Iterable<ObservedNamespace>;
}

export interface MirrorSettings {
  readonly vocabulary: Vocabulary;
  readonly bounds: Bounds;
  /** Undefined: nothing is held. */
  readonly brake: Brake | undefined;
}

/** What the cluster's administrator allows (SPEC P1-P3). */
export interface Bounds {
  /** The only namespaces for sources and companions; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  readonly allow: NamespacePatterns;
  readonly deny: NamespacePatterns;
  readonly requireConsent: boolean;
}

/** When deletions are held (SPEC D1): when both are reached. */
export interface Brake {
  readonly count: number;
  /** Of what is due for the sources of one namespace and the companions that they want. */
  readonly percent: number;
}

/** Deletions for the sources of one namespace that the brake counts. */
export interface DueDeletions {
  /** Uids of the companions to delete, and of those that were deleted lately. */
  readonly counted: ReadonlySet<string>;
  /** How many those are, and the companions that are wanted. */
  readonly total: number;
  /** Whether one of those to delete is marked as held. */
  readonly isHeld: boolean;
}
