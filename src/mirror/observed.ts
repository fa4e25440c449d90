import { keyOf, type ObjectKey, parseKey } from '../kube/object-key.ts';
import type { ConfigMap, ObjectMeta, OwnerReference } from '../kube/types.ts';
import { selectContent } from './content.ts';
import { digestOf } from './digest.ts';
import type { Parsed } from './parsed.ts';
import { type MirrorRequest, parseRequest } from './request.ts';
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
  /** RFC 3339, as on the wire: in this form, order of text is order of time. */
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
}

const NO_ENTRIES: StringMap = {};
const NO_OWNERS: readonly OwnerReference[] = [];

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function observe(object: ConfigMap, vocabulary: Vocabulary): ObservedConfigMap {
  const { metadata } = object;
  const identity = { namespace: metadata.namespace ?? '', name: metadata.name };
  const annotations = withoutLastApplied(metadata.annotations ?? NO_ENTRIES);
  const marked = { ...identity, labels: metadata.labels ?? NO_ENTRIES, annotations, metadata };
  const request = isSource(marked, vocabulary)
    ? parseRequest({ ...identity, annotations }, vocabulary)
    : undefined;
  const content = { data: object.data ?? NO_ENTRIES, binaryData: object.binaryData ?? NO_ENTRIES };
  return {
    key: keyOf(object),
    ...identity,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    createdAt: metadata.creationTimestamp ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
    immutable: object.immutable === true,
    labels: marked.labels,
    annotations,
    ownerReferences: metadata.ownerReferences ?? NO_OWNERS,
    digest: digestOf(request?.ok ? selectContent(content, request.value) : content),
    request,
    editedBy: lastForeignManager(metadata),
  };
}

/**
 * A companion is never a source, whatever labels somebody puts on it (SPEC M6). What betrays it: an annotation
 * that only companions carry, unless they name another object (then it is somebody's copy of a companion, and may
 * be a source in its own right), or that another ConfigMap controls it.
 */
function isSource(
  object: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: StringMap;
    readonly annotations: StringMap;
    readonly metadata: ObjectMeta;
  },
  vocabulary: Vocabulary,
): boolean {
  if (object.labels[vocabulary.managed] !== MANAGED_SOURCE) return false;
  if (object.metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === 'ConfigMap')) {
    return false;
  }
  const { annotations } = object;
  const self = annotations[vocabulary.companion];
  if (self !== undefined) return self !== keyOf({ metadata: object });
  return annotations[vocabulary.source] === undefined && annotations[vocabulary.sourceUid] === undefined;
}

// An empty value keeps the key: the reconciler must know that the annotations are not empty.
function withoutLastApplied(annotations: StringMap): StringMap {
  return annotations[LAST_APPLIED] === undefined ? annotations : { ...annotations, [LAST_APPLIED]: '' };
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
export function sourceReference(companion: ObservedConfigMap, vocabulary: Vocabulary): ObjectKey | undefined {
  const text = companion.annotations[vocabulary.source];
  return text === undefined ? undefined : parseKey(text);
}
