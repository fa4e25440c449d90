import type { OwnerReference } from '../kube/api/types.ts';
import { type CompanionShape, ownerReferenceAt } from './companion.ts';
import { parseCopiedKeys } from './copied-metadata.ts';
import type { ObservedConfigMap } from './observed.ts';
import type { Vocabulary } from './vocabulary.ts';

/** A label or annotation that is not as it should be; `value: undefined` is what should not be there. */
export interface EntryDifference {
  readonly kind: 'label' | 'annotation';
  readonly key: string;
  readonly value: string | undefined;
}

/** One way in which a companion is not as it should be. */
export type Difference =
  | EntryDifference
  | { readonly kind: 'content' }
  | { readonly kind: 'owner references'; readonly value: readonly OwnerReference[] };

/**
 * What must change for the companion to be right (SPEC M5): its content, our labels and annotations, what it
 * copied and should no longer, its owner reference. What others put on it is not looked at.
 */
export function differences(
  actual: ObservedConfigMap,
  shape: CompanionShape,
  vocabulary: Vocabulary,
): readonly Difference[] {
  const found: Difference[] = [];
  if (actual.digest !== shape.digest) found.push({ kind: 'content' });
  const copied = parseCopiedKeys(actual.annotations[vocabulary.copiedMetadata], vocabulary);
  compareEntries(found, 'label', actual.labels, shape.labels, copied.labels);
  compareEntries(found, 'annotation', actual.annotations, shape.annotations, [
    vocabulary.deletionPolicy,
    vocabulary.copiedMetadata,
    ...copied.annotations,
  ]);
  if (actual.annotations[vocabulary.companion] !== actual.key) {
    found.push({ kind: 'annotation', key: vocabulary.companion, value: actual.key });
  }
  const owners = wantedOwnerReferences(actual, shape);
  if (owners !== undefined) found.push({ kind: 'owner references', value: owners });
  return found;
}

function compareEntries(
  found: Difference[],
  kind: 'label' | 'annotation',
  actual: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
  mayBeLeftOver: readonly string[],
): void {
  for (const key of Object.keys(wanted)) {
    const value = wanted[key];
    if (actual[key] !== value) found.push({ kind, key, value });
  }
  for (const key of mayBeLeftOver) {
    // `Object.hasOwn`, because a label may be called `constructor`.
    if (Object.hasOwn(actual, key) && !Object.hasOwn(wanted, key))
      found.push({ kind, key, value: undefined });
  }
}

/**
 * All owner references that the companion should have, or undefined when it has them. Those of others stay; one to
 * this source, or beside it to an earlier object of its name (the source was recreated), is ours to set right.
 */
function wantedOwnerReferences(
  actual: ObservedConfigMap,
  shape: CompanionShape,
): readonly OwnerReference[] | undefined {
  const { source } = shape;
  const ours = (owner: OwnerReference) =>
    owner.uid === source.uid ||
    (actual.namespace === source.namespace && owner.kind === 'ConfigMap' && owner.name === source.name);
  const others = actual.ownerReferences.filter((owner) => !ours(owner));
  const wanted = beside(others, ownerReferenceAt(actual.namespace, shape));
  const found = actual.ownerReferences.filter(ours);
  const right =
    found.length === (wanted ? 1 : 0) && found.every((owner) => wanted && isSameOwner(owner, wanted));
  if (right) return undefined;
  return wanted === undefined ? others : [...others, wanted];
}

/**
 * Our reference where others stay: an object has one controller at most (the API server answers 422 to a second), and
 * garbage collection does not ask for it.
 */
function beside(
  others: readonly OwnerReference[],
  wanted: OwnerReference | undefined,
): OwnerReference | undefined {
  if (wanted === undefined || !others.some((owner) => owner.controller === true)) return wanted;
  return { ...wanted, controller: false };
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
