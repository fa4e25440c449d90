import type { JsonPatch, JsonPatchOperation } from '../kube/api/types.ts';
import type { Content } from './digest.ts';
import type { Difference, EntryDifference } from './drift.ts';
import type { ObservedConfigMap } from './observed.ts';

/**
 * One request that mends the differences and nothing else. Replacing the resourceVersion by the one that the
 * differences were computed from makes the API server answer 409 when the companion has changed since (SPEC R2),
 * which spares the read before the write. `content` is needed when the content differs.
 */
export function healingPatch(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content | undefined,
): JsonPatch {
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: actual.resourceVersion },
    ...entryOperations('labels', actual.labels, found, 'label'),
    ...entryOperations('annotations', actual.annotations, found, 'annotation'),
  ];
  for (const difference of found) {
    if (difference.kind === 'owner references') {
      operations.push({ op: 'add', path: '/metadata/ownerReferences', value: difference.value });
    }
    if (difference.kind === 'content') {
      if (content === undefined) throw new TypeError('a patch of the content needs the content');
      // `add` on a map replaces it whole, whether it is there or not.
      operations.push({ op: 'add', path: '/data', value: content.data });
      operations.push({ op: 'add', path: '/binaryData', value: content.binaryData });
    }
  }
  return operations;
}

function entryOperations(
  field: 'labels' | 'annotations',
  actual: Readonly<Record<string, string>>,
  found: readonly Difference[],
  kind: 'label' | 'annotation',
): JsonPatchOperation[] {
  const changes = found.filter((difference): difference is EntryDifference => difference.kind === kind);
  // An empty map is absent on the wire, and a path into it would not exist.
  if (Object.keys(actual).length === 0) {
    const entries = Object.fromEntries(changes.map(({ key, value }) => [key, value]));
    return changes.length === 0 ? [] : [{ op: 'add', path: `/metadata/${field}`, value: entries }];
  }
  return changes.map(({ key, value }) => {
    const path = `/metadata/${field}/${escapePointer(key)}`;
    return value === undefined ? { op: 'remove', path } : { op: 'add', path, value };
  });
}

/** RFC 6901, section 3. */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
