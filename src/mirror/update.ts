import type { NewConfigMap, NextConfigMap } from '../kube/api/types.ts';
import type { Content } from './digest.ts';
import type { Difference } from './drift.ts';
import { LAST_APPLIED, type ObservedConfigMap } from './observed.ts';

/**
 * The companion with its content, and whatever else differs, as it should be. To replace an object costs the API server an
 * eighth less than a patch of all its data (docs/performance.md). Undefined where it must be a patch: without a difference in
 * the content, which is not at hand then, for an immutable object, and for one that has more than we remember: what is not in
 * here would be gone.
 */
export function updated(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content | undefined,
): NextConfigMap | undefined {
  if (content === undefined || !found.some((difference) => difference.kind === 'content')) return undefined;
  if (actual.hasMore || actual.immutable) return undefined;
  const { uid, resourceVersion } = actual;
  return { metadata: { ...mendedMetadata(actual, found), uid, resourceVersion }, ...content };
}

/**
 * What takes the place of a companion that is immutable (SPEC R12): mutable, and for the rest what an update would have made
 * of it. Without `kubectl.kubernetes.io/last-applied-configuration`, whose value is not remembered.
 */
export function replacement(
  actual: ObservedConfigMap,
  found: readonly Difference[],
  content: Content,
): NewConfigMap {
  const metadata = mendedMetadata(actual, found);
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
  return { metadata: { ...metadata, annotations }, ...content };
}

/** The companion's metadata without what is wrong with it, and with all that others put on it (SPEC M5). */
function mendedMetadata(actual: ObservedConfigMap, found: readonly Difference[]): NewConfigMap['metadata'] {
  const { namespace, name } = actual;
  const owners = found.find((difference) => difference.kind === 'owner references');
  return {
    namespace,
    name,
    labels: changed(actual.labels, found, 'label'),
    annotations: changed(actual.annotations, found, 'annotation'),
    ownerReferences: owners?.value ?? actual.ownerReferences,
  };
}

function changed(
  entries: Readonly<Record<string, string>>,
  found: readonly Difference[],
  kind: 'label' | 'annotation',
): Readonly<Record<string, string>> {
  const result = new Map(Object.entries(entries));
  for (const difference of found) {
    if (difference.kind !== kind) continue;
    if (difference.value === undefined) result.delete(difference.key);
    else result.set(difference.key, difference.value);
  }
  return Object.fromEntries(result);
}
