import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { CompanionShape } from '../companion/companion.ts';
import { type Difference, differences } from '../companion/drift.ts';
import { isCompanionOf, mayDelete } from '../companion/ownership.ts';
import type { ObservedConfigMap } from '../observe/observed-config-map.ts';
import type { ObservedNamespace } from '../observe/observed-namespace.ts';
import { companionKey, type Targets } from '../request/request.ts';
import { precedingClaimant } from './claims.ts';
import { boundsRefusal, matchesTargets, placementIn } from './placement.ts';
import { isOursToRemove, planRemoval } from './removal.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * Plan for a source that exists and whose request is valid: its desired companions against the actual ones, in stable order.
 * It reads the view and nothing else, so the same view gives the same plan (SPEC R1).
 */
export function planSource(shape: CompanionShape, view: ClusterView): readonly Step[] {
  const { source, request } = shape;
  // A source that is being deleted gets nothing (SPEC R3); its companions are handled when it is gone.
  if (source.deleting) return [];
  const steps: Step[] = [];
  if (request.targets === undefined) {
    const companion = companionKey(request, source.namespace);
    steps.push(planCompanion(companion, view.configMap(companion), shape, view));
  } else {
    for (const namespace of candidateNamespaces(request.targets, view)) {
      const step = planTarget(namespace, request.targets, shape, view);
      if (step !== undefined) steps.push(step);
    }
    steps.push(...planAbsentNamespaces(request.targets, shape, view));
  }
  const planned = new Set(steps.map((step) => step.companion));
  for (const object of view.referrers(source)) {
    if (planned.has(object.key) || !isOursToRemove(object, source, view)) continue;
    const reason = reasonForRemoval(object, shape, view);
    steps.push(planRemoval(object, { source, policy: request.deletionPolicy, reason }, view));
  }
  return steps;
}

/** Why the source no longer needs a companion that it has. */
function reasonForRemoval(object: ObservedConfigMap, { request }: CompanionShape, view: ClusterView): string {
  if (object.name !== request.companionName)
    return `companions of the source are named ${request.companionName} now`;
  if (request.targets === undefined) return 'the source no longer targets namespaces';
  const namespace = view.namespace(object.namespace);
  if (namespace === undefined) return 'the namespace no longer exists';
  return 'the source no longer targets the namespace';
}

/** What to do in one namespace for a source that names targets; undefined where it asks for nothing. */
function planTarget(
  namespace: ObservedNamespace,
  targets: Targets,
  shape: CompanionShape,
  view: ClusterView,
): Step | undefined {
  const { source, request } = shape;
  const { bounds, vocabulary } = view.settings;
  const companion = companionKey(request, namespace.name);
  // In its own namespace a source may come out as its own target, when companions are to have its name.
  if (companion === source.key) return undefined;
  const placement = placementIn(namespace, { namespace: source.namespace, targets }, bounds);
  switch (placement.kind) {
    case 'unmatched':
      return undefined;
    case 'desired':
      return planCompanion(companion, view.configMap(companion), shape, view);
    case 'terminating':
      return { action: 'none', companion, state: 'waiting', reason: 'the namespace is being deleted' };
    case 'forbidden':
      return refused(companion, placement.reason, targets);
    case 'unconsented': {
      const { reason } = placement;
      const actual = view.configMap(companion);
      return actual !== undefined && mayDelete(actual, source, vocabulary)
        ? planRemoval(actual, { source, policy: request.deletionPolicy, reason }, view)
        : refused(companion, reason, targets);
    }
  }
}

function refused(companion: ObjectKey, reason: string, { patterns }: Targets): Step {
  const named = patterns.names.has(splitKey(companion).namespace);
  return { action: 'none', companion, state: 'refused', reason, named };
}

/** The namespaces that the source names and that are not in the view: a typo, or not created yet (SPEC R13). */
function* planAbsentNamespaces(targets: Targets, shape: CompanionShape, view: ClusterView): Iterable<Step> {
  const { source, request } = shape;
  for (const name of targets.patterns.names) {
    if (view.namespace(name) !== undefined || !matchesTargets(targets, { name, labels: {} })) continue;
    const companion = companionKey(request, name);
    const forbidden = boundsRefusal(name, source.namespace, view.settings.bounds);
    if (forbidden !== undefined) yield refused(companion, forbidden, targets);
    else
      yield { action: 'none', companion, state: 'no namespace', reason: `namespace ${name} does not exist` };
  }
}

/** The namespaces that can match at all. A list of exact names must not cost a look at every namespace. */
function* candidateNamespaces(targets: Targets, view: ClusterView): Iterable<ObservedNamespace> {
  if (targets.selector !== undefined || targets.patterns.prefixes.length > 0) {
    yield* view.namespaces();
    return;
  }
  for (const name of targets.patterns.names) {
    const namespace = view.namespace(name);
    if (namespace !== undefined) yield namespace;
  }
}

/** What to do at a name where the source should have a companion; `actual` is the object that is there. */
export function planCompanion(
  companion: ObjectKey,
  actual: ObservedConfigMap | undefined,
  shape: CompanionShape,
  view: ClusterView,
): Step {
  const { vocabulary } = view.settings;
  if (actual === undefined) {
    const rival = precedingClaimant(shape.source, companion, view);
    if (rival === undefined)
      return { action: 'create', companion, state: 'missing', reason: 'it did not exist' };
    const reason = `source ${rival.key} wants the same name and comes first`;
    return { action: 'defer', companion, state: 'conflict', reason };
  }
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
    return {
      action: 'none',
      companion,
      state: 'waiting',
      reason: 'the companion is being deleted, and will be recreated',
    };
  }
  const found = differences(actual, shape, vocabulary);
  if (found.length === 0) return { action: 'none', companion, state: 'in sync', reason: '' };
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

function conflict(companion: ObjectKey, reason: string): Step {
  return { action: 'none', companion, state: 'conflict', reason };
}

function describeDifferences(found: readonly Difference[]): string {
  const parts = found.map((difference) =>
    'key' in difference ? `${difference.kind} ${difference.key}` : difference.kind,
  );
  return `differs in ${parts.join(', ')}`;
}
