import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { OwnerReference } from '../../kube/api/types.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { isRevision } from '../observe/revision.ts';
import { MANAGED_COMPANION, type Vocabulary } from '../vocabulary.ts';

/** A source by name, and by uid if that is known. Of a source that is gone, it is not. */
export interface SourceIdentity {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
}

/**
 * Whether an object is this source's companion (SPEC R6). Two of three marks are enough, so that
 * any one may have been stripped; but a copy of a companion, which carries the name of another
 * object, is none. An object that the source controls is a companion without further marks. A
 * revision has the same marks and is none.
 */
export function isCompanionOf(
  object: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): boolean {
  if (isRevision(object, vocabulary)) return false;
  if (isControlledBy(object, source)) return true;
  const self = object.annotations[vocabulary.companion];
  return (self === undefined || self === object.key) && countMarks(object, source, vocabulary) >= 2;
}

/** Whether it may be deleted (SPEC R8): a companion of this source that carries its own name. */
export function mayDelete(
  object: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): boolean {
  return (
    object.key !== source.key &&
    object.request === undefined &&
    object.annotations[vocabulary.companion] === object.key &&
    isCompanionOf(object, source, vocabulary)
  );
}

function countMarks(object: ObservedConfigMap, source: SourceIdentity, vocabulary: Vocabulary): number {
  const isLabelled = object.labels[vocabulary.managed] === MANAGED_COMPANION;
  const namesSource = object.annotations[vocabulary.source] === source.key;
  const hasUid = source.uid !== undefined && object.annotations[vocabulary.sourceUid] === source.uid;
  return Number(isLabelled) + Number(namesSource) + Number(hasUid);
}

/** Whether the source controls the object, so that garbage collection deletes both. */
export function isControlledBy(object: ObservedConfigMap, source: SourceIdentity): boolean {
  const { namespace, name } = splitKey(source.key);
  return (
    object.namespace === namespace &&
    object.ownerReferences.some(
      (owner) =>
        owner.controller === true &&
        owner.kind === 'ConfigMap' &&
        owner.apiVersion === 'v1' &&
        (source.uid === undefined ? owner.name === name : owner.uid === source.uid),
    )
  );
}

/**
 * Whether one of a companion's owner references is ours to correct. It refers to this source or to
 * an earlier object of its name, if the source was recreated.
 */
export function isOwnerReferenceTo(
  source: SourceIdentity,
  owner: OwnerReference,
  companion: ObservedConfigMap,
): boolean {
  if (owner.uid === source.uid) return true;
  const { namespace, name } = splitKey(source.key);
  const isByName = owner.apiVersion === 'v1' && owner.kind === 'ConfigMap' && owner.name === name;
  return isByName && companion.namespace === namespace;
}
