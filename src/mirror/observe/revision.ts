import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import { MANAGED_REVISION, type Vocabulary } from '../vocabulary.ts';
import type { ObservedConfigMap } from './observed-config-map.ts';

/** How far the canary of a revision's content is. Absent: the content may be everywhere. */
export type CanaryStage = 'trying' | 'failed';

/** The part of a checksum that names a revision, for people. */
export function shortChecksum(digest: string): string {
  return digest.slice(0, 8);
}

/**
 * Which content the controller has last written to a companion, before placeholders were filled in:
 * its short checksum. Values and labels may have changed since, so rendering it again does not
 * tell.
 */
export function writtenContent(
  { annotations }: Pick<ObservedConfigMap, 'annotations'>,
  { renderedFrom, sourceChecksum }: Vocabulary,
): string {
  return shortChecksum(annotations[renderedFrom] ?? annotations[sourceChecksum] ?? '');
}

/** Whether a companion holds what the controller has last written there. */
export function isAsWritten(
  { annotations, digest }: Pick<ObservedConfigMap, 'annotations' | 'digest'>,
  { sourceChecksum }: Vocabulary,
): boolean {
  return annotations[sourceChecksum] === digest;
}

/** The key of the revision that keeps a content of a source (SPEC D4). */
export function revisionKey(
  source: { readonly namespace: string; readonly name: string },
  digest: string,
): ObjectKey {
  return objectKey(source.namespace, `${source.name}-rev-${shortChecksum(digest)}`);
}

/**
 * Whether an object is a revision, of whatever source, or was one, or is a copy of one. Its label
 * may have been changed. A companion that is labelled so stays one, because it carries its own
 * name, and so does a source, whatever its annotations say.
 */
export function isRevision(
  object: Pick<ObservedConfigMap, 'labels' | 'annotations' | 'request'>,
  vocabulary: Vocabulary,
): boolean {
  return (
    object.request === undefined &&
    (object.labels[vocabulary.managed] === MANAGED_REVISION ||
      object.annotations[vocabulary.revision] !== undefined) &&
    object.annotations[vocabulary.companion] === undefined
  );
}

/**
 * Its place in the order of the source's contents; 0 if somebody has removed or spoiled it. A large
 * number that somebody has written leaves room to count on from there.
 */
export function orderOf(revision: ObservedConfigMap, vocabulary: Vocabulary): number {
  const text = revision.annotations[vocabulary.revision] ?? '';
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : 0;
}

/** Anything but the words that we write counts as absent. */
export function stageOf(revision: ObservedConfigMap, vocabulary: Vocabulary): CanaryStage | undefined {
  const text = revision.annotations[vocabulary.canaryStage];
  return text === 'trying' || text === 'failed' ? text : undefined;
}
