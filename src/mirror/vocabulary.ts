/** Labels, annotations or data: texts by key. */
export type StringMap = Readonly<Record<string, string>>;

/** Undefined if there is none, also of a label that is called `constructor`. */
export function entryAt(entries: StringMap, key: string): string | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}

/** What a source says. */
const SOURCE_KEYS = {
  targetNamespaces: 'target-namespaces',
  targetNamespaceSelector: 'target-namespace-selector',
  companionName: 'companion-name',
  includeKeys: 'include-keys',
  excludeKeys: 'exclude-keys',
  renameKeys: 'rename-keys',
  renderKeys: 'render-keys',
  valuesFrom: 'values-from',
  copyLabels: 'copy-labels',
  copyAnnotations: 'copy-annotations',
  /** Also on companions of a source that retains them. */
  deletionPolicy: 'deletion-policy',
  /** Likewise. How long a companion stays unwanted before it is deleted (SPEC D3). */
  deleteAfter: 'delete-after',
  /** Waves of held deletions that are allowed. For sources that are gone, on their Namespace. */
  allowDeletes: 'allow-deletes',
  /** How long a source must be quiet before its new content is mirrored (SPEC D7). */
  settle: 'settle',
  keepRevisions: 'keep-revisions',
  pin: 'pin',
  canary: 'canary',
  canaryBake: 'canary-bake',
  canaryApprove: 'canary-approve',
  /** Which sinks are notified of the source. Companions do not depend on it. */
  notify: 'notify',
} as const;

const SOURCE_WORDS = Object.keys(SOURCE_KEYS) as (keyof typeof SOURCE_KEYS)[];

const OTHER_KEYS = {
  /** Label on sources (`true`), companions, revisions and values. The watch selects by it. */
  managed: 'managed',

  // What a companion carries.
  source: 'source',
  sourceUid: 'source-uid',
  sourceChecksum: 'source-checksum',
  /** If that is of a rendered content and revisions are kept: which content was rendered. */
  renderedFrom: 'rendered-from',
  /** The companion's own `namespace/name`. A copy of a companion has the wrong one. */
  companion: 'companion',
  copiedMetadata: 'copied-metadata',
  /** The wave of deletions with which the brake holds this one (SPEC D1). */
  held: 'held',
  /** On a canary companion: which content failed in a canary. */
  canaryFailed: 'canary-failed',

  // What a revision carries, beside the first three of a companion.
  /** Its place in the order of the source's contents. */
  revision: 'revision',
  /** Until its content may be everywhere: how far its canary is. */
  canaryStage: 'canary-stage',

  // What others put on a companion.
  verdict: 'verdict',

  // What a namespace says.
  acceptMirrorsFrom: 'accept-mirrors-from',
} as const;

type Keys = typeof SOURCE_KEYS & typeof OTHER_KEYS;

/** Every label and annotation key. Not constants, because `--domain` sets the domain. */
export type Vocabulary = { readonly [K in keyof Keys]: string } & {
  readonly domain: string;
  /** The labels of every companion. */
  readonly companionLabels: StringMap;
  /** The labels of every revision. */
  readonly revisionLabels: StringMap;
};

export const MANAGED_SOURCE = 'true';
export const MANAGED_COMPANION = 'companion';
export const MANAGED_REVISION = 'revision';
export const MANAGED_VALUES = 'values';

/** https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/ */
const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'mirror-controller';

export const DEFAULT_DOMAIN = 'workshop.io';

export function vocabularyOf(domain: string): Vocabulary {
  const named = Object.entries({ ...SOURCE_KEYS, ...OTHER_KEYS }).map(([word, key]) => [
    word,
    `${domain}/${key}`,
  ]);
  const keys = Object.fromEntries(named) as Record<keyof Keys, string>;
  return {
    domain,
    ...keys,
    companionLabels: Object.freeze({ [keys.managed]: MANAGED_COMPANION, [MANAGED_BY_LABEL]: MANAGED_BY }),
    revisionLabels: Object.freeze({ [keys.managed]: MANAGED_REVISION, [MANAGED_BY_LABEL]: MANAGED_BY }),
  };
}

/** The annotations of a source, with their domain. */
export function sourceAnnotations(vocabulary: Vocabulary): readonly string[] {
  return SOURCE_WORDS.map((word) => vocabulary[word]);
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
