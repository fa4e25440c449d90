/** Labels, annotations or data: texts by key. */
export type StringMap = Readonly<Record<string, string>>;

/** Every label and annotation key. Not constants, because `--domain` sets the domain. */
export interface Vocabulary {
  readonly domain: string;

  /** Label on sources (`true`) and companions (`companion`). The watch selects by it. */
  readonly managed: string;

  // What a source says.
  readonly targetNamespaces: string;
  readonly targetNamespaceSelector: string;
  readonly companionName: string;
  readonly includeKeys: string;
  readonly excludeKeys: string;
  readonly renameKeys: string;
  readonly copyLabels: string;
  readonly copyAnnotations: string;
  /** Also on companions of a source that retains them. */
  readonly deletionPolicy: string;
  /** Likewise. How long nobody must want a companion before it is deleted (SPEC D3). */
  readonly deleteAfter: string;

  /** Also on a Namespace, for its sources that are gone. Waves of held deletions that may be made. */
  readonly allowDeletes: string;

  // What a companion carries.
  readonly source: string;
  readonly sourceUid: string;
  readonly sourceChecksum: string;
  /** The companion's own `namespace/name`. A copy that somebody makes of it has the wrong one. */
  readonly companion: string;
  readonly copiedMetadata: string;
  /** The wave of deletions with which the brake holds this one (SPEC D1). */
  readonly held: string;

  // What a namespace says.
  readonly acceptMirrorsFrom: string;

  /** The labels of every companion. */
  readonly companionLabels: StringMap;
}

export const MANAGED_SOURCE = 'true';
export const MANAGED_COMPANION = 'companion';

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'mirror-controller';

export const DEFAULT_DOMAIN = 'workshop.io';

export function vocabularyOf(domain: string): Vocabulary {
  const managed = `${domain}/managed`;
  return {
    domain,
    managed,
    targetNamespaces: `${domain}/target-namespaces`,
    targetNamespaceSelector: `${domain}/target-namespace-selector`,
    companionName: `${domain}/companion-name`,
    includeKeys: `${domain}/include-keys`,
    excludeKeys: `${domain}/exclude-keys`,
    renameKeys: `${domain}/rename-keys`,
    copyLabels: `${domain}/copy-labels`,
    copyAnnotations: `${domain}/copy-annotations`,
    deletionPolicy: `${domain}/deletion-policy`,
    deleteAfter: `${domain}/delete-after`,
    allowDeletes: `${domain}/allow-deletes`,
    source: `${domain}/source`,
    sourceUid: `${domain}/source-uid`,
    sourceChecksum: `${domain}/source-checksum`,
    companion: `${domain}/companion`,
    copiedMetadata: `${domain}/copied-metadata`,
    held: `${domain}/held`,
    acceptMirrorsFrom: `${domain}/accept-mirrors-from`,
    companionLabels: Object.freeze({ [managed]: MANAGED_COMPANION, [MANAGED_BY_LABEL]: MANAGED_BY }),
  };
}

/** Selects sources and companions, and nothing else (SPEC W1). */
export function watchSelector(vocabulary: Vocabulary): string {
  return `${vocabulary.managed} in (${MANAGED_SOURCE},${MANAGED_COMPANION})`;
}
