import { keyOf, type ObjectKey, parseKey } from '../../kube/api/object-key.ts';
import type { ConfigMap, ObjectMeta, OwnerReference } from '../../kube/api/types.ts';
import { type Parsed, problem } from '../parsed.ts';
import { matchesGlobs } from '../request/patterns.ts';
import { type MirrorRequest, parseRequest } from '../request/request.ts';
import { MANAGED_BY, MANAGED_SOURCE, type StringMap, type Vocabulary } from '../vocabulary.ts';
import { type Content, isEmpty, mapsIn, selectContent } from './content.ts';
import { digestOf } from './digest.ts';

/**
 * What the controller remembers of a ConfigMap: all that a decision needs, and none of its data
 * (SPEC W4). It is small whatever the ConfigMap's size.
 */
export interface ObservedConfigMap {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of a source, RFC 3339 as on the wire: text order is time order. Empty on everything else. */
  readonly createdAt: string;
  readonly deleting: boolean;
  readonly immutable: boolean;
  /** Whether it has data, and binaryData: a patch has to know. */
  readonly hasData: boolean;
  readonly hasBinaryData: boolean;
  readonly labels: StringMap;
  /** All of them, but {@link LAST_APPLIED}, which repeats the data. */
  readonly annotations: StringMap;
  readonly ownerReferences: readonly OwnerReference[];
  /** {@link digestOf} what it really holds; of a source, of what it asks to be copied. */
  readonly digest: string;
  /** What it asks for, when it is a source; undefined on everything else. */
  readonly request: Parsed<MirrorRequest> | undefined;
  /** The last field manager to write, other than the controller (SPEC R14 names it). */
  readonly editedBy: string | undefined;
}

const NO_ENTRIES: StringMap = {};
const NO_OWNERS: readonly OwnerReference[] = [];

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function observe(object: ConfigMap, vocabulary: Vocabulary): ObservedConfigMap {
  const content = { data: object.data ?? NO_ENTRIES, binaryData: object.binaryData ?? NO_ENTRIES };
  const request = isSource(object.metadata, vocabulary)
    ? requestOf(object.metadata, content, vocabulary)
    : undefined;
  const digest = digestOf(request?.ok ? selectContent(content, request.value) : content);
  const immutable = object.immutable === true;
  return remember(object.metadata, { digest, immutable, request, ...mapsIn(content) });
}

/** What is remembered of the parts that the metadata does not show. */
type BeyondMetadata = Pick<ObservedConfigMap, 'digest' | 'immutable' | 'hasData' | 'hasBinaryData'>;

/**
 * What {@link observe} will make of a companion, from the metadata that answered a write of it and
 * from what was written.
 */
export function observeWritten(metadata: ObjectMeta, written: BeyondMetadata): ObservedConfigMap {
  return remember(metadata, { ...written, request: undefined });
}

function remember(
  metadata: ObjectMeta,
  { digest, immutable, hasData, hasBinaryData, request }: BeyondMetadata & Pick<ObservedConfigMap, 'request'>,
): ObservedConfigMap {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return {
    key: keyOf({ metadata }),
    namespace,
    name,
    uid,
    resourceVersion,
    createdAt: request === undefined ? '' : (metadata.creationTimestamp ?? ''),
    deleting: metadata.deletionTimestamp !== undefined,
    immutable,
    hasData,
    hasBinaryData,
    labels: metadata.labels ?? NO_ENTRIES,
    annotations: withoutLastApplied(metadata.annotations ?? NO_ENTRIES),
    ownerReferences: metadata.ownerReferences ?? NO_OWNERS,
    digest,
    request,
    editedBy: lastOtherManager(metadata),
  };
}

/**
 * What a source's annotations ask for. Its content counts too: a selection of nothing is a typo
 * (SPEC R13).
 */
function requestOf(
  { namespace = '', name, annotations = NO_ENTRIES }: ObjectMeta,
  content: Content,
  vocabulary: Vocabulary,
): Parsed<MirrorRequest> {
  const request = parseRequest({ namespace, name, annotations }, vocabulary);
  if (!request.ok || isEmpty(content) || !isEmpty(selectContent(content, request.value))) return request;
  const { includeKeys } = request.value;
  const keys = [...Object.keys(content.data), ...Object.keys(content.binaryData)];
  return includeKeys !== undefined && !keys.some((key) => matchesGlobs(includeKeys, key))
    ? problem(
        `${vocabulary.includeKeys}: matches no key of the source; name keys that it has, or remove the annotation to copy all`,
      )
    : problem(
        `${vocabulary.excludeKeys}: leaves no key to copy; exclude fewer keys, or remove the annotation`,
      );
}

/**
 * A companion is never a source, whatever labels somebody puts on it (SPEC M6). Two things give it
 * away: another ConfigMap controls it, or it has an annotation that only companions carry. A copy
 * of a companion names another object as itself, so it may be a source in its own right.
 */
function isSource(metadata: ObjectMeta, vocabulary: Vocabulary): boolean {
  const { labels = NO_ENTRIES, annotations = NO_ENTRIES, ownerReferences = NO_OWNERS } = metadata;
  if (labels[vocabulary.managed] !== MANAGED_SOURCE) return false;
  if (ownerReferences.some((owner) => owner.controller && owner.kind === 'ConfigMap')) return false;
  const self = annotations[vocabulary.companion];
  if (self !== undefined) return self !== keyOf({ metadata });
  return annotations[vocabulary.source] === undefined && annotations[vocabulary.sourceUid] === undefined;
}

function withoutLastApplied(annotations: StringMap): StringMap {
  if (annotations[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return others;
}

function lastOtherManager(metadata: ObjectMeta): string | undefined {
  let last: { readonly manager: string; readonly time: string } | undefined;
  for (const { manager, time = '' } of metadata.managedFields ?? []) {
    if (manager === undefined || manager === MANAGED_BY) continue;
    if (last === undefined || time >= last.time) last = { manager, time };
  }
  return last?.manager;
}

/**
 * The source that a companion refers to; undefined when it names none, or nothing that can be a
 * key.
 */
export function sourceReference(
  companion: Pick<ObservedConfigMap, 'annotations'>,
  vocabulary: Vocabulary,
): ObjectKey | undefined {
  const text = companion.annotations[vocabulary.source];
  return text === undefined ? undefined : parseKey(text);
}
