import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { CompanionShape, Edition, NoEdition } from '../companion/companion.ts';
import { type Difference, differences } from '../companion/drift.ts';
import { isCompanionOf } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import { companionKey } from '../request/request.ts';
import { withBrake } from './brake.ts';
import { precedingClaimant } from './claims.ts';
import { candidateNamespaces, placementIn } from './placement.ts';
import { isLeftOver, planLeftOver, planUnconsented } from './removal.ts';
import { onceQuiet } from './settle.ts';
import { type Step, waiting } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * Compares the desired companions of a source with the actual ones. It reads only the view, so the
 * same view gives the same plan (SPEC R1). The writes begin with the last step.
 */
export function planSource(shape: CompanionShape, view: ClusterView): readonly Step[] {
  const { source, request } = shape;
  // Nothing is created or updated for a source that is being deleted (SPEC R3). Once it is gone,
  // its companions are planned as orphans.
  if (source.deleting) return planUnconsented(source, view);
  const targets: Step[] = [];
  for (const namespace of candidateNamespaces(source, request, view)) {
    const step = planTarget(namespace, shape, view);
    if (step !== undefined) targets.push(step);
  }
  const planned = new Set(targets.map((step) => step.companion));
  const leftOver: Step[] = [];
  for (const object of view.referrers(source)) {
    if (planned.has(object.key) || !isLeftOver(object, source, view)) continue;
    leftOver.push(planLeftOver(object, source, request, view));
  }
  // So a renamed companion is begun before the deletion of its former self (SPEC R4).
  const settled = onceQuiet([...leftOver, ...targets], shape, view);
  return withBrake(source.key, source, settled, view);
}

/** What to do in one namespace; undefined if the source asks for nothing there. */
function planTarget(name: string, shape: CompanionShape, view: ClusterView): Step | undefined {
  const { source, request } = shape;
  const companion = companionKey(request, name);
  const placement = placementIn(name, source, request, view);
  const actual = view.configMap(companion);
  const named = request.targets?.patterns.names.has(name) ?? false;
  const refused = (reason: string, unsaid: boolean): Step => {
    return { action: 'none', companion, state: 'refused', reason, named, unsaid };
  };
  switch (placement.kind) {
    case 'unmatched':
      return undefined;
    case 'desired':
      return planCompanion(companion, actual, shape, view);
    case 'absent':
      return { action: 'none', companion, state: 'no namespace', reason: `namespace ${name} does not exist` };
    case 'terminating':
      return waiting(companion, 'the namespace is being deleted');
    case 'forbidden':
      return refused(placement.reason, false);
    case 'unconsented':
      return actual !== undefined && isLeftOver(actual, source, view)
        ? planLeftOver(actual, source, request, view)
        : refused(placement.reason, placement.unsaid);
  }
}

/** What to do at a desired companion's key. `actual`: the object there. */
export function planCompanion(
  companion: ObjectKey,
  actual: ObservedConfigMap | undefined,
  shape: CompanionShape,
  view: ClusterView,
): Step {
  const { vocabulary } = view.settings;
  if (actual === undefined) return planMissing(companion, shape, view);
  if (actual.request !== undefined) return conflict(companion, 'a source has this name');
  if (!isCompanionOf(actual, shape.source, vocabulary)) {
    const holder = actual.annotations[vocabulary.source];
    return conflict(
      companion,
      holder === undefined || holder === shape.source.key
        ? 'a ConfigMap with this name exists and is not managed by mirror-controller'
        : `it is the companion of ${holder}`,
    );
  }
  if (actual.deleting) {
    return waiting(companion, 'the companion is being deleted, and will be recreated');
  }
  const edition = shape.editionIn(actual.namespace, actual);
  if ('missing' in edition) return withoutContent(companion, edition);
  const found = differences(actual, shape, vocabulary);
  if (found.length === 0) return planInSync(companion, edition);
  const replace = actual.immutable && found.some((difference) => difference.kind === 'content');
  return {
    action: replace ? 'replace' : 'update',
    companion,
    state: 'drifted',
    reason: describeDifferences(found),
    actual,
    differences: found,
  };
}

function planMissing(companion: ObjectKey, shape: CompanionShape, view: ClusterView): Step {
  const rival = precedingClaimant(shape.source, companion, view);
  if (rival !== undefined) {
    const reason = `source ${rival.key} wants the same name and comes first`;
    return { action: 'defer', companion, state: 'conflict', reason };
  }
  const edition = shape.editionIn(splitKey(companion).namespace);
  return 'missing' in edition
    ? withoutContent(companion, edition)
    : { action: 'create', companion, state: 'missing', reason: 'it did not exist' };
}

/** It stays as it is. */
function withoutContent(companion: ObjectKey, { missing: reason, isUnresolved }: NoEdition): Step {
  return isUnresolved
    ? { action: 'none', companion, state: 'unresolved', reason }
    : waiting(companion, reason);
}

/** It holds what it should, which may not be the source's present content. */
function planInSync(companion: ObjectKey, { held }: Edition): Step {
  return held === undefined
    ? { action: 'none', companion, state: 'in sync', reason: '' }
    : waiting(companion, held.reason, held.until);
}

function conflict(companion: ObjectKey, reason: string): Step {
  return { action: 'none', companion, state: 'conflict', reason };
}

function describeDifferences(found: readonly Difference[]): string {
  const parts = found.map((difference) =>
    'key' in difference ? `${difference.kind} ${difference.key}` : difference.kind,
  );
  return `differs in ${parts.join(', ')}`;
}
