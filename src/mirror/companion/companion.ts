import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { NewConfigMap, OwnerReference } from '../../kube/api/types.ts';
import type { Content } from '../observe/content.ts';
import { type ObservedConfigMap, usesOf } from '../observe/observed-config-map.ts';
import { shortChecksum } from '../observe/revision.ts';
import type { Rendering } from '../render/rendering.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { copiedMetadata, formatCopiedKeys } from './copied-metadata.ts';

/**
 * What the companions of one source should be. They have the labels and annotations in common, and
 * differ in the annotations with their own key and checksum, and in the owner reference
 * ({@link ownerReferenceAt}).
 */
export interface CompanionShape {
  readonly source: ObservedConfigMap;
  readonly request: MirrorRequest;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly editionIn: EditionIn;
  /** Undefined: companions hold contents as they are. */
  readonly rendering: Rendering | undefined;
}

/**
 * What the companion in a namespace should hold. `actual`, what is there, decides only whether it
 * stays as it is.
 */
export type EditionIn = (namespace: string, actual?: ObservedConfigMap) => Edition | NoEdition;

/** The content that a companion should hold. */
export interface Edition {
  /** Its checksum (SPEC M4). */
  readonly digest: string;
  /** Short checksum of the content that was rendered, if revisions are kept. */
  readonly renderedFrom?: string;
  /** The revision that has the content. Absent: the source has it. */
  readonly revision?: ObservedConfigMap;
  /** The new content of the source that it does not hold yet, and why. Absent: it holds it. */
  readonly held?: { readonly reason: string; readonly until?: number };
  /** Whether it is new, and tried in a canary (SPEC D6). */
  readonly isTried?: boolean;
  /** Short checksum of a content that failed here, in a canary (SPEC D6). */
  readonly failed?: string;
}

/** The source's content, everywhere. */
export function ownEdition({ digest }: ObservedConfigMap): EditionIn {
  const edition = { digest };
  return () => edition;
}

/** The content is not there, or not known: the companion stays as it is. */
export interface NoEdition {
  readonly missing: string;
  /** Whether that is because a placeholder has no text in the namespace (SPEC V4). */
  readonly isUnresolved?: boolean;
}

/**
 * @param editionIn which content goes where
 * @param rendering of a source that has something to render
 */
export function companionShape(
  source: ObservedConfigMap,
  request: MirrorRequest,
  vocabulary: Vocabulary,
  editionIn: EditionIn,
  rendering: Rendering | undefined,
): CompanionShape {
  if (usesOf(source) !== undefined && rendering === undefined) {
    throw new TypeError('the source must be rendered first');
  }
  const copied = copiedMetadata(source, request, vocabulary);
  const copiedKeys = formatCopiedKeys(copied);
  return {
    source,
    request,
    editionIn: rendering === undefined ? editionIn : renderedEditionIn(source, request, editionIn, rendering),
    rendering,
    labels: { ...copied.labels, ...vocabulary.companionLabels },
    annotations: {
      ...copied.annotations,
      [vocabulary.source]: source.key,
      [vocabulary.sourceUid]: source.uid,
      ...(request.deletionPolicy === 'retain' && { [vocabulary.deletionPolicy]: 'retain' }),
      ...(request.deleteAfter !== undefined && { [vocabulary.deleteAfter]: request.deleteAfter.text }),
      ...(copiedKeys !== undefined && { [vocabulary.copiedMetadata]: copiedKeys }),
    },
  };
}

function renderedEditionIn(
  source: ObservedConfigMap,
  { rollout }: MirrorRequest,
  editionIn: EditionIn,
  rendering: Rendering,
): EditionIn {
  return (namespace, actual) => {
    const edition = editionIn(namespace, actual);
    if ('missing' in edition) return edition;
    const base = edition.revision ?? source;
    const rendered = rendering.in(namespace, base);
    if (rendered === undefined) return { missing: 'its content must be read first' };
    const { digest, unresolved } = rendered;
    if (digest === undefined) return { missing: unresolved, isUnresolved: true };
    const isNamed = rollout !== undefined && digest !== base.digest;
    return { ...edition, digest, ...(isNamed && { renderedFrom: shortChecksum(base.digest) }) };
  };
}

/** A companion to create. `content`: that of its {@link Edition}. */
export function newCompanion(
  key: ObjectKey,
  shape: CompanionShape,
  content: Content,
  vocabulary: Vocabulary,
): NewConfigMap {
  const { namespace, name } = splitKey(key);
  const owner = ownerReferenceAt(namespace, shape);
  const { digest, renderedFrom, failed } = desiredEdition(namespace, shape);
  return {
    metadata: {
      namespace,
      name,
      labels: shape.labels,
      annotations: {
        [vocabulary.sourceChecksum]: digest,
        [vocabulary.companion]: key,
        ...shape.annotations,
        ...(renderedFrom !== undefined && { [vocabulary.renderedFrom]: renderedFrom }),
        ...(failed !== undefined && { [vocabulary.canaryFailed]: failed }),
      },
      ...(owner !== undefined && { ownerReferences: [owner] }),
    },
    ...content,
  };
}

/** @throws TypeError if there is none: then no write is planned. */
export function desiredEdition(namespace: string, shape: Pick<CompanionShape, 'editionIn'>): Edition {
  const edition = shape.editionIn(namespace);
  if ('missing' in edition) throw new TypeError(`no content for the companion in ${namespace}`);
  return edition;
}

/**
 * The companion's owner reference to its source (SPEC M1, M2). Only a companion beside the source
 * has one: to garbage collection an owner in another namespace does not exist
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/).
 * `blockOwnerDeletion` would need a right on finalizers.
 */
export function ownerReferenceAt(namespace: string, shape: CompanionShape): OwnerReference | undefined {
  const { source, request } = shape;
  if (namespace !== source.namespace || request.deletionPolicy === 'retain') return undefined;
  return { apiVersion: 'v1', kind: 'ConfigMap', name: source.name, uid: source.uid, controller: true };
}
