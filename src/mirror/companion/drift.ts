import type { OwnerReference } from '../../kube/api/types.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { shortChecksum, writtenContent } from '../observe/revision.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { type CompanionShape, desiredEdition, type Edition, ownerReferenceAt } from './companion.ts';
import { parseCopiedKeys } from './copied-metadata.ts';
import { isOwnerReferenceTo, type SourceIdentity } from './ownership.ts';

/** A label or annotation to set or, with `value: undefined`, to remove. */
export interface EntryDifference {
  readonly kind: 'label' | 'annotation';
  readonly key: string;
  readonly value: string | undefined;
}

/** One difference between a companion and what it should be. */
export type Difference =
  | EntryDifference
  | { readonly kind: 'content' }
  /** All owner references that it should have, including those that others set. */
  | { readonly kind: 'owner references'; readonly value: readonly OwnerReference[] };

/** All differences that must be healed (SPEC M5). What others put on the companion stays. */
export function differences(
  actual: ObservedConfigMap,
  shape: CompanionShape,
  vocabulary: Vocabulary,
): readonly Difference[] {
  const found: Difference[] = [];
  const edition = desiredEdition(actual.namespace, shape);
  const { digest, renderedFrom, failed } = edition;
  if (actual.digest !== digest) found.push({ kind: 'content' });
  const copied = parseCopiedKeys(actual.annotations[vocabulary.copiedMetadata], vocabulary);
  compareEntries(found, 'label', actual.labels, shape.labels, copied.labels);
  compareEntries(found, 'annotation', actual.annotations, shape.annotations, [
    vocabulary.deletionPolicy,
    vocabulary.deleteAfter,
    vocabulary.held,
    vocabulary.copiedMetadata,
    ...copied.annotations,
  ]);
  compareAnnotation(found, actual, vocabulary.sourceChecksum, checksumFor(actual, edition, vocabulary));
  compareAnnotation(found, actual, vocabulary.renderedFrom, renderedFrom);
  compareAnnotation(found, actual, vocabulary.companion, actual.key);
  compareAnnotation(found, actual, vocabulary.canaryFailed, failed);
  // A verdict is on the content that the companion was last given, not on the next (SPEC D6).
  const hasVerdict = actual.annotations[vocabulary.verdict] !== undefined;
  if (hasVerdict && writtenContent(actual, vocabulary) !== (renderedFrom ?? shortChecksum(digest))) {
    compareAnnotation(found, actual, vocabulary.verdict, undefined);
  }
  const owner = ownerReferenceAt(actual.namespace, shape);
  const owners = desiredOwnerReferences(actual, shape.source, owner);
  if (owners !== undefined) found.push({ kind: 'owner references', value: owners });
  return found;
}

/**
 * Differences between a companion and a retained one. That has the policy `retain` and no owner
 * reference, or the source's deletion would delete it after all (SPEC R3, R4).
 */
export function differencesFromRetained(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  vocabulary: Vocabulary,
): readonly Difference[] {
  const found: Difference[] = [];
  compareAnnotation(found, actual, vocabulary.deletionPolicy, 'retain');
  compareAnnotation(found, actual, vocabulary.held, undefined);
  const owners = desiredOwnerReferences(actual, source, undefined);
  if (owners !== undefined) found.push({ kind: 'owner references', value: owners });
  return found;
}

/**
 * The checksum annotation. A heal restarts a canary's bake (SPEC D6), but the API server renews the
 * time of our last write only if a value is set to another: not if a key is removed. So a heal
 * shortens the checksum, and another write completes it. If a policy reverts the heal, repeating it
 * changes nothing, as anywhere (SPEC R13).
 */
function checksumFor(
  { digest: held, annotations }: ObservedConfigMap,
  { digest, isTried = false }: Edition,
  { sourceChecksum }: Vocabulary,
): string {
  if (!isTried || held === digest) return digest;
  const short = shortChecksum(digest);
  return annotations[sourceChecksum]?.startsWith(short) ? short : digest;
}

function compareAnnotation(
  found: Difference[],
  actual: ObservedConfigMap,
  key: string,
  value: string | undefined,
): void {
  if (actual.annotations[key] !== value) found.push({ kind: 'annotation', key, value });
}

function compareEntries(
  found: Difference[],
  kind: 'label' | 'annotation',
  actual: StringMap,
  desired: StringMap,
  mayBeLeftOver: readonly string[],
): void {
  for (const key of Object.keys(desired)) {
    const value = desired[key];
    if (actual[key] !== value) found.push({ kind, key, value });
  }
  for (const key of mayBeLeftOver) {
    // `Object.hasOwn`, because a label may be called `constructor`.
    if (Object.hasOwn(actual, key) && !Object.hasOwn(desired, key))
      found.push({ kind, key, value: undefined });
  }
}

/**
 * All owner references that the companion should have; undefined when it has them. `toSource`: the
 * one to the source; undefined: there should be none.
 */
function desiredOwnerReferences(
  actual: ObservedConfigMap,
  source: SourceIdentity,
  toSource: OwnerReference | undefined,
): readonly OwnerReference[] | undefined {
  const isOurs = (owner: OwnerReference) => isOwnerReferenceTo(source, owner, actual);
  const others = actual.ownerReferences.filter((owner) => !isOurs(owner));
  const desired = toSource && beside(others, toSource);
  const found = actual.ownerReferences.filter(isOurs);
  const isRight =
    found.length === (desired ? 1 : 0) && found.every((owner) => desired && isSameOwner(owner, desired));
  if (isRight) return undefined;
  return desired === undefined ? others : [...others, desired];
}

/** An object has at most one controller. Garbage collection deletes it without one, too. */
function beside(others: readonly OwnerReference[], ours: OwnerReference): OwnerReference {
  return others.some((owner) => owner.controller === true) ? { ...ours, controller: false } : ours;
}

function isSameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return (
    a.uid === b.uid &&
    a.name === b.name &&
    a.kind === b.kind &&
    a.apiVersion === b.apiVersion &&
    (a.controller === true) === (b.controller === true) &&
    (a.blockOwnerDeletion === true) === (b.blockOwnerDeletion === true)
  );
}
