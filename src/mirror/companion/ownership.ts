import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { OwnerReference } from '../../kube/api/types.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { MANAGED_COMPANION, type Vocabulary } from '../vocabulary.ts';

/** Which source: by name, and by uid where that is known (a vanished source left only its name). */
export interface SourceIdentity {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
}

/**
 * Whether the object at a name that the source gives its companions is this source's companion
 * (SPEC R6). Either it bears two of three marks, so that any one may have been stripped, and does
 * not name another object as itself, as a copy of a companion does. Or, beside the source, the
 * source controls it: then its other marks do not matter.
 */
export function isCompanionOf(
  object: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): boolean {
  if (isControlledBy(object, source)) return true;
  const self = object.annotations[vocabulary.companion];
  return (self === undefined || self === object.key) && countMarks(object, source, vocabulary) >= 2;
}

/**
 * Whether it may be deleted (SPEC R8): this source's companion that names itself, so not a copy of
 * one.
 */
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

/** Whether the source, of the same namespace, controls it: then garbage collection applies. */
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
 * Whether one of a companion's owner references is the controller's to correct: it is to this
 * source or, beside it, to an earlier object of its name (the source was recreated).
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
