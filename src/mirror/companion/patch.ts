import type { ConfigMapPatch, NewConfigMap } from '../../kube/api/types.ts';
import type { Content } from '../observe/content.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { StringMap } from '../vocabulary.ts';
import type { Difference, EntryDifference } from './drift.ts';

/**
 * A patch that heals the differences and changes nothing else. It carries the resourceVersion of
 * `actual`: if the companion has changed since, the API server answers 409 (SPEC R2).
 * @param content what the companion should hold, needed if the content differs
 */
export function healingPatch(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content | undefined,
): ConfigMapPatch {
  const labels = entryDifferences(found, 'label');
  const annotations = entryDifferences(found, 'annotation');
  const owners = found.find((difference) => difference.kind === 'owner references');
  const metadata = {
    resourceVersion: actual.resourceVersion,
    ...(labels.length > 0 && { labels: changes(labels) }),
    ...(annotations.length > 0 && { annotations: changes(annotations) }),
    ...(owners !== undefined && { ownerReferences: [{ $patch: 'replace' } as const, ...owners.value] }),
  };
  if (!found.some((difference) => difference.kind === 'content')) return { metadata };
  if (content === undefined) throw new TypeError('a patch of the content needs the content');
  return {
    metadata,
    data: inPlaceOf(actual.hasData, content.data),
    binaryData: inPlaceOf(actual.hasBinaryData, content.binaryData),
  };
}

/** The object that replaces an immutable companion (SPEC R12): healed, and mutable. */
export function replacement(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content,
): NewConfigMap {
  const { namespace, name } = actual;
  const owners = found.find((difference) => difference.kind === 'owner references');
  return {
    metadata: {
      namespace,
      name,
      labels: healed(actual.labels, entryDifferences(found, 'label')),
      annotations: healed(actual.annotations, entryDifferences(found, 'annotation')),
      ownerReferences: owners?.value ?? actual.ownerReferences,
    },
    ...content,
  };
}

/**
 * What a patch says so that a map of strings becomes `entries`. `$patch: replace` replaces an
 * existing map. If there is none, the API server would drop the directive and all entries beside it
 * (`removeDirectives` in k8s.io/apimachinery, strategicpatch).
 */
export function inPlaceOf(isThere: boolean, entries: StringMap): StringMap {
  return isThere ? { $patch: 'replace', ...entries } : entries;
}

function entryDifferences(
  found: readonly Difference[],
  kind: EntryDifference['kind'],
): readonly EntryDifference[] {
  return found.filter((difference): difference is EntryDifference => difference.kind === kind);
}

const changes = (found: readonly EntryDifference[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(found.map(({ key, value }) => [key, value ?? null]));

function healed(entries: StringMap, found: readonly EntryDifference[]): StringMap {
  const merged = Object.entries({ ...entries, ...changes(found) });
  return Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
}
