import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { NewConfigMap } from '../../kube/api/types.ts';
import type { EntryDifference } from '../companion/drift.ts';
import { isControlledBy } from '../companion/ownership.ts';
import type { Content } from '../observe/content.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { type CanaryStage, isRevision, revisionKey } from '../observe/revision.ts';
import { MANAGED_REVISION, type Vocabulary } from '../vocabulary.ts';

/**
 * What to do about one revision, and why. It has the fields of a companion's step, because both
 * wait in one queue; `companion` is the revision's key.
 */
export type RevisionStep = { readonly companion: ObjectKey; readonly reason: string } & (
  | {
      /** Creates it, before a companion gets the content (SPEC D4). */
      readonly action: 'keep';
      readonly order: number;
      readonly stage: CanaryStage | undefined;
      /** What the watch shows under its name, and is not the revision. */
      readonly actual: ObservedConfigMap | undefined;
    }
  | {
      /** Changes its order or its stage. */
      readonly action: 'mark';
      readonly actual: ObservedConfigMap;
      readonly differences: readonly EntryDifference[];
    }
  | {
      readonly action: 'drop';
      readonly actual: ObservedConfigMap;
    }
);

/**
 * Whether an object is a revision of this source. Its name says its content, so a copy under
 * another name, or another content under this name, is none. That of an earlier source of the same
 * name is none: garbage collection deletes it.
 */
export function isRevisionOf(
  object: ObservedConfigMap,
  source: ObservedConfigMap,
  vocabulary: Vocabulary,
): boolean {
  return (
    object.labels[vocabulary.managed] === MANAGED_REVISION &&
    isRevision(object, vocabulary) &&
    !object.deleting &&
    object.key === revisionKey(source, object.digest) &&
    isControlledBy(object, source)
  );
}

/** A revision to create. `content`: what the source's companions should hold. */
export function newRevision(
  source: ObservedConfigMap,
  { order, stage }: { readonly order: number; readonly stage: CanaryStage | undefined },
  content: Content,
  vocabulary: Vocabulary,
): NewConfigMap {
  const { namespace, name, uid, key, digest } = source;
  return {
    metadata: {
      namespace,
      name: splitKey(revisionKey(source, digest)).name,
      labels: vocabulary.revisionLabels,
      annotations: {
        [vocabulary.source]: key,
        [vocabulary.sourceUid]: uid,
        [vocabulary.sourceChecksum]: digest,
        [vocabulary.revision]: String(order),
        ...(stage !== undefined && { [vocabulary.canaryStage]: stage }),
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }],
    },
    immutable: true,
    ...content,
  };
}
