/** Labels, annotations or data: texts by key. */
export type StringMap = Readonly<Record<string, string>>;

/** Every label and annotation key. Not constants, because `--domain` sets the domain. */
export interface Vocabulary {
  readonly domain: string;

  /** Label on sources (`true`), companions, revisions and values. The watch selects by it. */
  readonly managed: string;

  // What a source says.
  readonly targetNamespaces: string;
  readonly targetNamespaceSelector: string;
  readonly companionName: string;
  readonly includeKeys: string;
  readonly excludeKeys: string;
  readonly renameKeys: string;
  readonly renderKeys: string;
  readonly valuesFrom: string;
  readonly copyLabels: string;
  readonly copyAnnotations: string;
  /** Also on companions of a source that retains them. */
  readonly deletionPolicy: string;
  /** Likewise. How long a companion stays unwanted before it is deleted (SPEC D3). */
  readonly deleteAfter: string;
  readonly keepRevisions: string;
  readonly pin: string;
  readonly canary: string;
  readonly canaryBake: string;
  readonly canaryApprove: string;

  /** How long a source must be quiet before its new content is mirrored (SPEC D7). */
  readonly settle: string;
  /** Waves of held deletions that are allowed. For sources that are gone, on their Namespace. */
  readonly allowDeletes: string;
  /** Which sinks are notified of the source. Companions do not depend on it. */
  readonly notify: string;

  // What a companion carries.
  readonly source: string;
  readonly sourceUid: string;
  readonly sourceChecksum: string;
  /** If that is of a rendered content and revisions are kept: which content was rendered. */
  readonly renderedFrom: string;
  /** The companion's own `namespace/name`. A copy of a companion has the wrong one. */
  readonly companion: string;
  readonly copiedMetadata: string;
  /** The wave of deletions with which the brake holds this one (SPEC D1). */
  readonly held: string;
  /** On a canary companion: which content failed in a canary. */
  readonly canaryFailed: string;

  // What a revision carries, beside the first three of a companion.
  /** Its place in the order of the source's contents. */
  readonly revision: string;
  /** Until its content may be everywhere: how far its canary is. */
  readonly canaryStage: string;

  // What others put on a companion.
  readonly verdict: string;

  // What a namespace says.
  readonly acceptMirrorsFrom: string;

  /** The labels of every companion. */
  readonly companionLabels: StringMap;
  /** The labels of every revision. */
  readonly revisionLabels: StringMap;
}

export const MANAGED_SOURCE = 'true';
export const MANAGED_COMPANION = 'companion';
export const MANAGED_REVISION = 'revision';
export const MANAGED_VALUES = 'values';

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
    renderKeys: `${domain}/render-keys`,
    valuesFrom: `${domain}/values-from`,
    copyLabels: `${domain}/copy-labels`,
    copyAnnotations: `${domain}/copy-annotations`,
    deletionPolicy: `${domain}/deletion-policy`,
    deleteAfter: `${domain}/delete-after`,
    settle: `${domain}/settle`,
    allowDeletes: `${domain}/allow-deletes`,
    keepRevisions: `${domain}/keep-revisions`,
    pin: `${domain}/pin`,
    canary: `${domain}/canary`,
    canaryBake: `${domain}/canary-bake`,
    canaryApprove: `${domain}/canary-approve`,
    notify: `${domain}/notify`,
    source: `${domain}/source`,
    sourceUid: `${domain}/source-uid`,
    sourceChecksum: `${domain}/source-checksum`,
    renderedFrom: `${domain}/rendered-from`,
    companion: `${domain}/companion`,
    copiedMetadata: `${domain}/copied-metadata`,
    held: `${domain}/held`,
    canaryFailed: `${domain}/canary-failed`,
    revision: `${domain}/revision`,
    canaryStage: `${domain}/canary-stage`,
    verdict: `${domain}/verdict`,
    acceptMirrorsFrom: `${domain}/accept-mirrors-from`,
    companionLabels: Object.freeze({ [managed]: MANAGED_COMPANION, [MANAGED_BY_LABEL]: MANAGED_BY }),
    revisionLabels: Object.freeze({ [managed]: MANAGED_REVISION, [MANAGED_BY_LABEL]: MANAGED_BY }),
  };
}

/** Values of the label `managed` that the watch selects. */
export const WATCHED: readonly string[] = [
  MANAGED_SOURCE,
  MANAGED_COMPANION,
  MANAGED_REVISION,
  MANAGED_VALUES,
];

/** Selects what is ours, and nothing else (SPEC W1). */
export function watchSelector(vocabulary: Vocabulary): string {
  return `${vocabulary.managed} in (${WATCHED.join()})`;
}
