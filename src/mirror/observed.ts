import { keyOf, type ObjectKey, objectKey, parseKey } from '../kube/api/object-key.ts';
import type { ConfigMap, ObjectMeta, OwnerReference } from '../kube/api/types.ts';
import { selectContent } from './content.ts';
import { digestOf } from './digest.ts';
import type { Parsed } from './parsed.ts';
import { type MirrorRequest, parseRequest } from './request.ts';
import { NOTHING_SHARED, type Share, sharingEntries, sharingWith } from './shared-texts.ts';
import { MANAGED_BY, MANAGED_SOURCE, type Vocabulary } from './vocabulary.ts';

type StringMap = Readonly<Record<string, string>>;

/**
 * What we remember of a ConfigMap: everything that a decision needs, and not its data (SPEC W4). It is small
 * whatever the ConfigMap's size.
 */
export interface ObservedConfigMap {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of a source, RFC 3339 as on the wire: in this form, order of text is order of time. Empty on everything else. */
  readonly createdAt: string;
  readonly deleting: boolean;
  readonly immutable: boolean;
  readonly labels: StringMap;
  /** All of them; the value of `kubectl.kubernetes.io/last-applied-configuration` is dropped, it repeats the data. */
  readonly annotations: StringMap;
  readonly ownerReferences: readonly OwnerReference[];
  /** {@link digestOf} what it really holds; of a source, what it holds under the keys that it asks to be copied. */
  readonly digest: string;
  /** What it asks for, when it is a source; undefined on everything else. */
  readonly request: Parsed<MirrorRequest> | undefined;
  /** The field manager, other than us, that wrote last: who to name when a companion is fought over (SPEC R14). */
  readonly editedBy: string | undefined;
  /** Whether the API server holds more of it than is in here and its data, such as finalizers. */
  readonly hasMore: boolean;
}

const NO_ENTRIES: StringMap = {};
const NO_OWNERS: readonly OwnerReference[] = [];

const OBJECT_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'data', 'binaryData', 'immutable']);
/** Those that are remembered, those that only the API server can set, and managedFields, which it keeps when they are not sent. */
const METADATA_FIELDS = new Set([
  'namespace',
  'name',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'managedFields',
]);

export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** `known` finds what is remembered of a source, for the texts that its companion has in common with it. */
export function observe(
  object: ConfigMap,
  vocabulary: Vocabulary,
  known?: (key: ObjectKey) => ObservedConfigMap | undefined,
): ObservedConfigMap {
  const content = { data: object.data ?? NO_ENTRIES, binaryData: object.binaryData ?? NO_ENTRIES };
  const hasMore = hasOthers(object, OBJECT_FIELDS) || object.immutable === false;
  const reference = sourceReference({ annotations: object.metadata.annotations ?? NO_ENTRIES }, vocabulary);
  const source = reference && known?.(reference);
  return observed(
    object.metadata,
    { immutable: object.immutable === true, hasMore },
    vocabulary,
    (request) => digestOf(request?.ok ? selectContent(content, request.value) : content),
    source?.request && sharingWith(source),
  );
}

/** What {@link observe} will make of a companion, from the metadata that answered a write of it and what was written. */
export function observeWritten(
  metadata: ObjectMeta,
  { digest, ...rest }: Pick<ObservedConfigMap, 'digest' | 'immutable' | 'hasMore'>,
  vocabulary: Vocabulary,
): ObservedConfigMap {
  return observed(metadata, rest, vocabulary, () => digest);
}

function observed(
  metadata: ObjectMeta,
  { immutable, hasMore }: Pick<ObservedConfigMap, 'immutable' | 'hasMore'>,
  vocabulary: Vocabulary,
  digestFor: (request: ObservedConfigMap['request']) => string,
  share: Share = NOTHING_SHARED,
): ObservedConfigMap {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const annotations = withoutLastApplied(metadata.annotations ?? NO_ENTRIES);
  const labels = metadata.labels ?? NO_ENTRIES;
  const request = isSource(metadata, labels, annotations, vocabulary)
    ? parseRequest({ namespace, name, annotations }, vocabulary)
    : undefined;
  // Named one by one: with a spread in it V8 would build the object field by field.
  const key = objectKey(namespace, name);
  const ownKey = annotations[vocabulary.companion];
  return {
    key: (ownKey === key ? ownKey : key) as ObjectKey,
    namespace: share(namespace),
    name: share(name),
    uid,
    resourceVersion,
    createdAt: request === undefined ? '' : (metadata.creationTimestamp ?? ''),
    deleting: metadata.deletionTimestamp !== undefined,
    immutable,
    labels: hasSame(labels, vocabulary.companionLabels)
      ? vocabulary.companionLabels
      : sharingEntries(labels, share),
    annotations: sharingEntries(annotations, share),
    ownerReferences: metadata.ownerReferences?.map((owner) => sharingEntries(owner, share)) ?? NO_OWNERS,
    digest: share(digestFor(request)),
    request,
    editedBy: lastForeignManager(metadata),
    hasMore: hasMore || hasOthers(metadata, METADATA_FIELDS) || annotations[LAST_APPLIED] !== undefined,
  };
}

/**
 * A companion is never a source, whatever labels somebody puts on it (SPEC M6). What betrays it: an annotation
 * that only companions carry, unless they name another object (then it is somebody's copy of a companion, and may
 * be a source in its own right), or that another ConfigMap controls it.
 */
function isSource(
  metadata: ObjectMeta,
  labels: StringMap,
  annotations: StringMap,
  vocabulary: Vocabulary,
): boolean {
  if (labels[vocabulary.managed] !== MANAGED_SOURCE) return false;
  if (metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'ConfigMap')) {
    return false;
  }
  const self = annotations[vocabulary.companion];
  if (self !== undefined) return self !== keyOf({ metadata });
  return annotations[vocabulary.source] === undefined && annotations[vocabulary.sourceUid] === undefined;
}

// An empty value keeps the key: the reconciler must know that the annotations are not empty.
function withoutLastApplied(annotations: StringMap): StringMap {
  return annotations[LAST_APPLIED] === undefined ? annotations : { ...annotations, [LAST_APPLIED]: '' };
}

function hasSame(entries: StringMap, others: StringMap): boolean {
  const keys = Object.keys(entries);
  return keys.length === Object.keys(others).length && keys.every((key) => entries[key] === others[key]);
}

function hasOthers(object: object, known: ReadonlySet<string>): boolean {
  for (const field in object) if (!known.has(field)) return true;
  return false;
}

function lastForeignManager(metadata: ObjectMeta): string | undefined {
  let last: { readonly manager: string; readonly time: string } | undefined;
  for (const { manager, time = '' } of metadata.managedFields ?? []) {
    if (manager === undefined || manager === MANAGED_BY) continue;
    if (last === undefined || time >= last.time) last = { manager, time };
  }
  return last?.manager;
}

/** The source that a companion refers to; undefined when it says none, or nothing that can be a key. */
export function sourceReference(
  companion: Pick<ObservedConfigMap, 'annotations'>,
  vocabulary: Vocabulary,
): ObjectKey | undefined {
  const text = companion.annotations[vocabulary.source];
  return text === undefined ? undefined : parseKey(text);
}
