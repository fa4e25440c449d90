import type { ObjectKey } from '../kube/api/object-key.ts';
import type { OwnerReference } from '../kube/api/types.ts';
import { copiedMetadata, formatCopiedKeys } from './copied-metadata.ts';
import type { ObservedConfigMap } from './observed.ts';
import type { MirrorRequest } from './request.ts';
import type { Vocabulary } from './vocabulary.ts';

type StringMap = Readonly<Record<string, string>>;

/**
 * What every companion of one source should carry. Only the annotation that names the companion itself, and the
 * owner reference, differ from companion to companion: {@link annotationsAt}, {@link ownerReferenceAt}.
 */
export interface CompanionShape {
  readonly source: ObservedConfigMap;
  readonly request: MirrorRequest;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly digest: string;
}

export function companionShape(
  source: ObservedConfigMap,
  request: MirrorRequest,
  vocabulary: Vocabulary,
): CompanionShape {
  const copied = copiedMetadata(source, request, vocabulary);
  const copiedKeys = formatCopiedKeys(copied);
  return {
    source,
    request,
    digest: source.digest,
    labels: { ...copied.labels, ...vocabulary.companionLabels },
    annotations: {
      ...copied.annotations,
      [vocabulary.source]: source.key,
      [vocabulary.sourceUid]: source.uid,
      [vocabulary.sourceChecksum]: source.digest,
      ...(request.deletionPolicy === 'retain' && { [vocabulary.deletionPolicy]: 'retain' }),
      ...(copiedKeys !== undefined && { [vocabulary.copiedMetadata]: copiedKeys }),
    },
  };
}

export function annotationsAt(key: ObjectKey, shape: CompanionShape, vocabulary: Vocabulary): StringMap {
  return { ...shape.annotations, [vocabulary.companion]: key };
}

/**
 * The companion's owner reference to its source, where it has one (SPEC M1, M2): only beside the source, since
 * garbage collection takes an owner in another namespace for an absent one and deletes the dependent
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/), and not when the
 * companion is to outlive the source. No `blockOwnerDeletion`: it would need a right on the source's finalizers.
 */
export function ownerReferenceAt(namespace: string, shape: CompanionShape): OwnerReference | undefined {
  const { source, request } = shape;
  if (namespace !== source.namespace || request.deletionPolicy === 'retain') return undefined;
  return { apiVersion: 'v1', kind: 'ConfigMap', name: source.name, uid: source.uid, controller: true };
}
