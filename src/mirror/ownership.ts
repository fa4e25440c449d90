import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import type { ObservedConfigMap } from './observed.ts';
import { MANAGED_COMPANION, type Vocabulary } from './vocabulary.ts';

/** Which source: by name, and by uid where that is known (a vanished source left only its name). */
export interface SourceIdentity {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
}

/**
 * Whether the object at a name that the source gives its companions is this source's companion (SPEC R6): it bears
 * two of three marks, so that any one may have been stripped by hand, and it is not somebody's copy of a companion.
 * Or, beside the source, the source controls it: so the companions of the workshop's first, Go controller are adopted.
 */
export function isCompanionOf(
  object: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): boolean {
  const self = object.annotations[vocabulary.companion];
  if (self !== undefined && self !== object.key) return false;
  return countMarks(object, source, vocabulary) >= 2 || isControlledBy(object, source);
}

/** Whether we may delete it (SPEC R8): it is this source's companion, and says itself that it is no copy of one. */
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

/** A controller owner reference from an object to a source of its own namespace: then garbage collection applies. */
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
