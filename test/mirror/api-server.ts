import { isDeepStrictEqual } from 'node:util';
import { applyPatch } from 'rfc6902';
import { keyOf, type ObjectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { companionShape, newCompanion } from '../../src/mirror/companion/companion.ts';
import { healingPatch } from '../../src/mirror/companion/patch.ts';
import { selectContent } from '../../src/mirror/observe/content.ts';
import { observe } from '../../src/mirror/observe/observed-config-map.ts';
import { planCompanion } from '../../src/mirror/plan/plan.ts';
import { configMap, vocabulary } from './wire.ts';
import { isWrite, type MirrorWorld, objectAt, planFor, viewOf, type WriteStep } from './world.ts';

/**
 * As much of an API server as it takes to see what a plan makes of a world. Every answer is a new
 * world.
 */

/** The world after the writes that a source key's plan asks for. */
export function carryOut(key: string, of: MirrorWorld): MirrorWorld {
  let now = of;
  for (const step of planFor(key, of)) {
    if (isWrite(step)) now = write(key, step, now);
    // Who defers looks whether its own companion is there unseen, and makes none.
    else if (step.action === 'defer' && objectAt(now, step.companion)) now = create(key, step.companion, now);
  }
  return now;
}

/**
 * One step, done as the controller does it: a create that meets something looks at it first (SPEC
 * R2, R6).
 */
function write(source: string, step: WriteStep, now: MirrorWorld): MirrorWorld {
  switch (step.action) {
    case 'create':
      return create(source, step.companion, now);
    case 'update':
      return patch(source, step, now);
    case 'replace':
      return create(source, step.companion, remove(step.actual.key, step.actual.resourceVersion, now));
    case 'delete':
      return remove(step.actual.key, step.actual.resourceVersion, now);
  }
}

function create(source: string, companion: ObjectKey, now: MirrorWorld): MirrorWorld {
  const { content, shape } = desiredFor(source, now);
  const there = objectAt(now, companion);
  if (there !== undefined) {
    const step = planCompanion(companion, observe(there, vocabulary), shape, viewOf(now));
    return isWrite(step) ? write(source, step, now) : now;
  }
  const body = newCompanion(companion, shape, content, vocabulary);
  const made = configMap(companion, {
    uid: `new uid of ${companion}`,
    resourceVersion: '100',
    labels: body.metadata.labels ?? {},
    annotations: body.metadata.annotations ?? {},
    owners: body.metadata.ownerReferences ?? [],
    ...content,
  });
  return { ...now, configMaps: [...now.configMaps, made] };
}

function patch(
  source: string,
  { actual, differences }: Extract<WriteStep, { readonly action: 'update' | 'replace' }>,
  now: MirrorWorld,
): MirrorWorld {
  const there = objectAt(now, actual.key);
  const isContent = differences.some((difference) => difference.kind === 'content');
  const content = isContent ? desiredFor(source, now).content : undefined;
  if (there === undefined) throw new Error(`404: a patch of ${actual.key}, which is not there`);
  return replaceIn(now, patched(there, healingPatch(actual, differences, content)));
}

/**
 * The object after a JSON patch. Throws when the patch does not apply or comes too late, as the
 * server refuses it.
 */
export function patched(there: ConfigMap, operations: ReturnType<typeof healingPatch>): ConfigMap {
  const result = structuredClone(there);
  const [error] = applyPatch(result, structuredClone([...operations])).filter((answer) => answer !== null);
  if (error) throw new Error(`422: ${error.message} in ${JSON.stringify(operations)}`);
  const { resourceVersion } = there.metadata;
  if (result.metadata.resourceVersion !== resourceVersion) throw new Error('409: it has been modified');
  const { data, binaryData } = there;
  if (there.immutable && !isDeepStrictEqual([result.data, result.binaryData], [data, binaryData])) {
    throw new Error('422: field is immutable when `immutable` is set');
  }
  return withoutEmptyParts({
    ...result,
    metadata: { ...result.metadata, resourceVersion: `${Number(resourceVersion) + 1}` },
  });
}

function withoutEmptyParts(object: ConfigMap): ConfigMap {
  const isEmpty = (part: unknown) =>
    typeof part === 'object' && part !== null && Object.keys(part).length === 0;
  const filled = (parts: object) =>
    Object.fromEntries(Object.entries(parts).filter(([, part]) => !isEmpty(part)));
  return { ...filled(object), metadata: filled(object.metadata) as unknown as ConfigMap['metadata'] };
}

function remove(key: ObjectKey, resourceVersion: string, now: MirrorWorld): MirrorWorld {
  const there = objectAt(now, key);
  if (there === undefined) return now;
  if (there.metadata.resourceVersion !== resourceVersion) throw new Error(`409: ${key} has been modified`);
  if (!there.metadata.finalizers?.length) {
    return { ...now, configMaps: now.configMaps.filter((object) => object !== there) };
  }
  const metadata = {
    ...there.metadata,
    deletionTimestamp: '2026-01-03T00:00:00Z',
    resourceVersion: `${Number(resourceVersion) + 1}`,
  };
  return replaceIn(now, { ...there, metadata });
}

function replaceIn(now: MirrorWorld, changed: ConfigMap): MirrorWorld {
  const key = keyOf(changed);
  return {
    ...now,
    configMaps: now.configMaps.map((object) => (keyOf(object) === key ? changed : object)),
  };
}

function desiredFor(key: string, now: MirrorWorld) {
  const wire = objectAt(now, key);
  const source = wire && observe(wire, vocabulary);
  if (wire === undefined || !source?.request?.ok)
    throw new Error(`${key} is no source that can ask for a write`);
  const request = source.request.value;
  return {
    shape: companionShape(source, request, vocabulary),
    content: selectContent({ data: wire.data ?? {}, binaryData: wire.binaryData ?? {} }, request),
  };
}
