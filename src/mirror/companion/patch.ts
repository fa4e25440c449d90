import type { JsonPatch, JsonPatchOperation, NewConfigMap } from '../../kube/api/types.ts';
import type { Content } from '../observe/content.ts';
import { LAST_APPLIED, type ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { StringMap } from '../vocabulary.ts';
import type { Difference, EntryDifference } from './drift.ts';

/**
 * One request that heals the differences and touches nothing else. It replaces the resourceVersion
 * by the one that the differences were computed from: when the companion has changed since, the API
 * server answers 409 (SPEC R2), which spares the read before the write.
 * @param content what the companion should hold, needed when the content differs
 */
export function healingPatch(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content | undefined,
): JsonPatch {
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: actual.resourceVersion },
    ...entryOperations('labels', actual.labels, entryDifferences(found, 'label')),
    ...entryOperations('annotations', actual.annotations, entryDifferences(found, 'annotation')),
  ];
  for (const difference of found) {
    if (difference.kind === 'owner references') {
      operations.push({ op: 'add', path: '/metadata/ownerReferences', value: difference.value });
    }
    if (difference.kind === 'content') {
      if (content === undefined) throw new TypeError('a patch of the content needs the content');
      // `add` replaces a map that exists.
      operations.push({ op: 'add', path: '/data', value: content.data });
      operations.push({ op: 'add', path: '/binaryData', value: content.binaryData });
    }
  }
  return operations;
}

/**
 * What takes the place of an immutable companion (SPEC R12): the same with the differences healed,
 * and mutable. Without {@link LAST_APPLIED}, whose value is not remembered.
 */
export function replacement(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content,
): NewConfigMap {
  const { namespace, name } = actual;
  const { [LAST_APPLIED]: _, ...annotations } = actual.annotations;
  const owners = found.find((difference) => difference.kind === 'owner references');
  return {
    metadata: {
      namespace,
      name,
      labels: healed(actual.labels, entryDifferences(found, 'label')),
      annotations: healed(annotations, entryDifferences(found, 'annotation')),
      ownerReferences: owners?.value ?? actual.ownerReferences,
    },
    ...content,
  };
}

function entryDifferences(
  found: readonly Difference[],
  kind: EntryDifference['kind'],
): readonly EntryDifference[] {
  return found.filter((difference): difference is EntryDifference => difference.kind === kind);
}

function entryOperations(
  field: 'labels' | 'annotations',
  actual: StringMap,
  changes: readonly EntryDifference[],
): readonly JsonPatchOperation[] {
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

function healed(entries: StringMap, changes: readonly EntryDifference[]): StringMap {
  const result = new Map(Object.entries(entries));
  for (const { key, value } of changes) {
    if (value === undefined) result.delete(key);
    else result.set(key, value);
  }
  return Object.fromEntries(result);
}

/** RFC 6901, section 3. */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
