import type { ObjectKey } from '../kube/api/object-key.ts';
import { precedingClaimant } from './claims.ts';
import type { CompanionShape } from './companion.ts';
import { type Difference, differences } from './drift.ts';
import type { ObservedConfigMap } from './observed.ts';
import { isCompanionOf, mayDelete } from './ownership.ts';
import { type ObservedNamespace, placementIn } from './placement.ts';
import { isOursToRemove, planRemoval } from './removal.ts';
import { companionKey, type Targets } from './request.ts';
import type { Step } from './step.ts';
import type { ClusterView } from './view.ts';

/**
 * Plan for a source that exists and whose request is sound: its desired companions against the actual ones, in
 * stable order. It reads the view and nothing else, so the same view gives the same plan (SPEC R1).
 */
export function planSource(shape: CompanionShape, view: ClusterView): readonly Step[] {
  const { source, request } = shape;
  // A source that is being deleted gets nothing (SPEC R3); what it leaves behind is handled when it is gone.
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
  }
  const planned = new Set(steps.map((step) => step.companion));
  for (const object of view.referrers(source)) {
    if (planned.has(object.key) || !isOursToRemove(object, source, view)) continue;
    steps.push(planRemoval(object, source.namespace, request.deletionPolicy, NO_LONGER_ASKED, view));
  }
  return steps;
}

const NO_LONGER_ASKED = 'the source no longer asks for it';

/** What to do in one namespace for a source that names targets; undefined where it asks for nothing. */
function planTarget(
  namespace: ObservedNamespace,
  targets: Targets,
  shape: CompanionShape,
  view: ClusterView,
): Step | undefined {
  const { source, request } = shape;
  const companion = companionKey(request, namespace.name);
  // In its own namespace a source may come out as its own target, when companions are to have its name.
  if (companion === source.key) return undefined;
  const placement = placementIn(namespace, { namespace: source.namespace, targets }, view.settings.bounds);
  switch (placement.kind) {
    case 'unmatched':
      return undefined;
    case 'wanted':
      return planCompanion(companion, view.configMap(companion), shape, view);
    case 'terminating':
      return { action: 'none', companion, state: 'waiting', reason: 'the namespace is being deleted' };
    case 'forbidden':
      return { action: 'none', companion, state: 'refused', reason: placement.reason };
    case 'unconsented': {
      const actual = view.configMap(companion);
      return actual !== undefined && mayDelete(actual, source, view.settings.vocabulary)
        ? planRemoval(actual, source.namespace, request.deletionPolicy, placement.reason, view)
        : { action: 'none', companion, state: 'refused', reason: placement.reason };
    }
  }
}

/** The namespaces that can match at all: a list of exact names must not cost a look at every namespace. */
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

/** What to do about the object at a name where the source should have a companion; `actual` is what is there. */
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
      return { action: 'create', companion, state: 'missing', reason: 'there is none' };
    const reason = `${rival.key} asks for the same name and comes first`;
    return { action: 'defer', companion, state: 'conflict', reason };
  }
  if (actual.request !== undefined) return conflict(companion, 'a source of that name is there');
  if (!isCompanionOf(actual, shape.source, vocabulary)) {
    const holder = actual.annotations[vocabulary.source];
    return conflict(
      companion,
      holder === undefined || holder === shape.source.key
        ? 'a ConfigMap of that name is there that is not ours'
        : `it is the companion of ${holder}`,
    );
  }
  if (actual.deleting) {
    return {
      action: 'none',
      companion,
      state: 'waiting',
      reason: 'it is being deleted; it is made anew then',
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
