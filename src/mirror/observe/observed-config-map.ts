import { keyOf, type ObjectKey, parseKey } from '../../kube/api/object-key.ts';
import type { ConfigMap, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../kube/api/types.ts';
import type { Parsed } from '../parsed.ts';
import {
  MANAGED_BY,
  MANAGED_SOURCE,
  MANAGED_VALUES,
  type StringMap,
  type Vocabulary,
} from '../vocabulary.ts';
import { mapsIn } from './content.ts';
import { digestOf } from './digest.ts';
import { readSource, type SourceRequest } from './source-request.ts';
import type { TemplateUses } from './template-uses.ts';

/** What the controller remembers of a ConfigMap: what decisions need, without its data. */
export interface ObservedConfigMap {
  readonly key: ObjectKey;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Creation time of a source, RFC 3339: text order is time order. Empty on everything else. */
  readonly createdAt: string;
  readonly deleting: boolean;
  readonly immutable: boolean;
  // A patch of the content depends on these two.
  readonly hasData: boolean;
  readonly hasBinaryData: boolean;
  readonly labels: StringMap;
  /** Without {@link LAST_APPLIED}, which repeats the data. */
  readonly annotations: StringMap;
  readonly ownerReferences: readonly OwnerReference[];
  /** {@link digestOf} of its content; for a source, of the part to copy. */
  readonly digest: string;
  /** What a source asks for; undefined on everything else. */
  readonly request: Parsed<SourceRequest> | undefined;
  /** The last field manager to write, other than the controller (SPEC R14). */
  readonly editedBy: string | undefined;
  /**
   * When the controller last wrote it, by the API server (s since the epoch). Of a source with
   * `settle`: when anybody did.
   */
  readonly writtenAt: number | undefined;
}

const NO_ENTRIES: StringMap = {};
const NO_OWNERS: readonly OwnerReference[] = [];

/** What `kubectl apply` sent last, with the data. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export function observe(object: ConfigMap, vocabulary: Vocabulary): ObservedConfigMap {
  const content = { data: object.data ?? NO_ENTRIES, binaryData: object.binaryData ?? NO_ENTRIES };
  const { request, copied } = isSource(object.metadata, vocabulary)
    ? readSource(object.metadata, content, vocabulary)
    : { request: undefined, copied: content };
  const digest = digestOf(copied);
  const immutable = object.immutable === true;
  return remember(object.metadata, { digest, immutable, ...mapsIn(content) }, request);
}

type BeyondMetadata = Pick<ObservedConfigMap, 'digest' | 'immutable' | 'hasData' | 'hasBinaryData'>;

/** The same for a companion that we wrote. `metadata`: the server's answer to the write. */
export function observeWritten(metadata: ObjectMeta, written: BeyondMetadata): ObservedConfigMap {
  return remember(metadata, written, undefined);
}

function remember(
  metadata: ObjectMeta,
  { digest, immutable, hasData, hasBinaryData }: BeyondMetadata,
  request: ObservedConfigMap['request'],
): ObservedConfigMap {
  const { namespace = '', name, uid, resourceVersion } = metadata;
  const hasSettle = request?.ok === true && request.value.settle !== undefined;
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
    editedBy: lastEntry(metadata, (manager) => manager !== undefined && manager !== MANAGED_BY)?.manager,
    writtenAt: secondsOf(lastEntry(metadata, (manager) => manager === MANAGED_BY || hasSettle)?.time),
  };
}

/**
 * A companion is never a source, whatever its labels (SPEC M6). It is recognized by
 * a ConfigMap that controls it, or by an annotation that only companions carry. A copy of a
 * companion carries the name of another object, so it may be a source.
 */
function isSource(metadata: ObjectMeta, vocabulary: Vocabulary): boolean {
  return metadata.labels?.[vocabulary.managed] === MANAGED_SOURCE && !isMarked(metadata, vocabulary);
}

/** Whether it holds values that sources may use (SPEC V3). A companion never does. */
export function isValues(object: ObservedConfigMap, vocabulary: Vocabulary): boolean {
  return object.labels[vocabulary.managed] === MANAGED_VALUES && !isMarked(object, vocabulary);
}

/** What a source's placeholders stand for; undefined if there is nothing to render. */
export function usesOf({ request }: Pick<ObservedConfigMap, 'request'>): TemplateUses | undefined {
  return request?.ok ? request.value.uses : undefined;
}

type Marked = Pick<ObjectMeta, 'namespace' | 'name' | 'annotations' | 'ownerReferences'>;

function isMarked(metadata: Marked, vocabulary: Vocabulary): boolean {
  const { annotations = NO_ENTRIES, ownerReferences = NO_OWNERS } = metadata;
  if (ownerReferences.some((owner) => owner.controller && owner.kind === 'ConfigMap')) return true;
  const self = annotations[vocabulary.companion];
  if (self !== undefined) return self === keyOf({ metadata });
  return annotations[vocabulary.source] !== undefined || annotations[vocabulary.sourceUid] !== undefined;
}

function withoutLastApplied(annotations: StringMap): StringMap {
  if (annotations[LAST_APPLIED] === undefined) return annotations;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return others;
}

/** The last entry of a manager that counts. */
function lastEntry(
  { managedFields = [] }: ObjectMeta,
  counts: (manager: string | undefined) => boolean,
): ManagedFieldsEntry | undefined {
  let last: ManagedFieldsEntry | undefined;
  for (const entry of managedFields) {
    if (counts(entry.manager) && (entry.time ?? '') >= (last?.time ?? '')) last = entry;
  }
  return last;
}

/** Since the epoch. Whole seconds: V8 keeps a small integer without an object of its own. */
function secondsOf(time = ''): number | undefined {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

/** The source that a companion names; undefined when it names none, or no possible key. */
export function sourceReference(
  companion: Pick<ObservedConfigMap, 'annotations'>,
  vocabulary: Vocabulary,
): ObjectKey | undefined {
  const text = companion.annotations[vocabulary.source];
  return text === undefined ? undefined : parseKey(text);
}
